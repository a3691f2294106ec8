"""Calls the functions that a test gave in the place of values of a request."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from trafficmock.matching.request_content import RequestContent, UnreadablePartError
from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.callables import describe
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.testing.session.arguments.match_conditions import ValueCheck
    from trafficmock.wire.payloads.serialized_request import SerializedRequest


def all_met(checks: Iterable[ValueCheck], request: SerializedRequest) -> bool:
    """Return whether each function accepts a value of its place; of a name one that repeats.

    :raises UsageError: a function returns something to be awaited.
    """
    listed = request.headers_list
    lines = request.headers.items() if listed is UNSET else listed
    content = RequestContent(request.url, lines, partial(body.to_bytes, request.body_base64))
    try:
        return all(
            any(_accepts(each, value) for value in content.values(each.place.part, _path(each)))
            for each in checks
        )
    except UnreadablePartError:
        return False


def _accepts(check: ValueCheck, value: Any) -> bool:
    accepted = check.test(value)
    if inspect.isawaitable(accepted):
        # As a value it would be true, whatever it comes to.
        if inspect.iscoroutine(accepted):
            accepted.close()
        what = describe(check.test, "function")
        raise UsageError(f"{what} must return whether the value matches, and nothing to be awaited")
    return bool(accepted)


def _path(check: ValueCheck) -> list[str | int]:
    """Return the place as the request is read: names of headers in lower case."""
    place = check.place
    if place.part != "header":
        return place.path
    name, *index = place.path
    return [str(name).lower(), *index]
