"""Calls the functions that a test gave in the place of values of a request."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from trafficmock.matching.request_content import RequestContent, UnreadablePartError
from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.callables import describe
from trafficmock.wire.http_syntax import lines_of
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.testing.session.arguments.match_conditions import ValueCheck
    from trafficmock.wire.payloads.serialized_request import SerializedRequest


def all_met(checks: Iterable[ValueCheck], request: SerializedRequest) -> bool:
    """Return whether each function accepts a value of its place; of a name one that repeats.

    :raises UsageError: a function returns something to be awaited.
    """
    lines = lines_of(request.headers, request.headers_list)
    content = RequestContent(request.url, lines, partial(body.to_bytes, request.body_base64))
    try:
        return all(
            any(_accepts(each, value) for value in content.values(each.place.part, each.place.path))
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
