"""Gives the parts of a request to the conditions of routes and waits, and values to functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from msgspec import UNSET, UnsetType

from trafficmock.core.ownership.registry import Registry
from trafficmock.matching import MatchBudget
from trafficmock.matching.request_content import MOST_BYTES, RequestContent
from trafficmock.wire.http_syntax import lines_of
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import PlacedValues, SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest


def content_of(
    request: SerializedRequest, registry: Registry, *, is_pending: bool = False
) -> RequestContent:
    """Return the parts of a request.

    :param is_pending: whether its body is still to come.
    """
    lines = lines_of(request.headers, request.headers_list)
    budget = MatchBudget(registry.pattern_cache)
    lacks = "" if is_pending else _lacks(request)
    read = None if is_pending or lacks else partial(body.to_bytes, request.body_base64)
    return RequestContent(request.url, lines, read, lacks=lacks, budget=budget)


def values_for(
    matchers: Iterable[SerializedMatcher], content: Callable[[], RequestContent]
) -> list[PlacedValues] | UnsetType:
    """Return the values at the places where a worker has functions, each place once.

    :param content: returns the parts of a request that meets the conditions of the matchers.
    """
    places = dict.fromkeys(
        (each.part, tuple(each.path))
        for matcher in matchers
        for each in matcher.conditions or ()
        if each.has_function
    )
    if not places:
        return UNSET
    found = content()
    return [PlacedValues(part, list(path), found.values(part, path)) for part, path in places]


def _lacks(request: SerializedRequest) -> str:
    """Return why a request does not have its whole body; empty if it has."""
    if request.truncated is True:
        size = "" if request.body_size is UNSET else f" of {request.body_size} bytes"
        return f"the body{size} is not here whole"
    if body.is_longer(request.body_base64, MOST_BYTES):
        return f"the body has {body.size(request.body_base64)} bytes, more than {MOST_BYTES}"
    return ""
