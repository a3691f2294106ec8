"""Calls the functions that a test gave in the place of values of a request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET

from trafficmock.matching.request_content import RequestContent, UnreadablePartError
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.testing.session.arguments.match_conditions import ValueCheck
    from trafficmock.wire.payloads.serialized_request import SerializedRequest


def all_met(checks: Iterable[ValueCheck], request: SerializedRequest) -> bool:
    """Return whether each function accepts a value of its place; of a name one that repeats."""
    listed = request.headers_list
    lines = request.headers.items() if listed is UNSET else listed
    content = RequestContent(request.url, lines, partial(body.to_bytes, request.body_base64))
    try:
        return all(
            any(map(each.test, content.values(each.place.part, _path(each)))) for each in checks
        )
    except UnreadablePartError:
        return False


def _path(check: ValueCheck) -> list[str | int]:
    """Return the place as the request is read: names of headers in lower case."""
    place = check.place
    if place.part != "header":
        return place.path
    name, *index = place.path
    return [str(name).lower(), *index]
