"""The request that a handler's overrides make, as handlers and tests see it."""

from __future__ import annotations

from msgspec import UNSET, structs

from trafficmock.wire.http_syntax import lower_case, on_wire
from trafficmock.wire.payloads.body import ABSENT
from trafficmock.wire.payloads.serialized_request import (
    HeaderPairs,
    SerializedOverrides,
    SerializedRequest,
)


def changed_request(request: SerializedRequest, changes: SerializedOverrides) -> SerializedRequest:
    """Return a request with changes, which count as the handlers gave them.

    An empty URL or method changes nothing (Playwright's rule).
    """
    replaced: dict[str, object] = {}
    if changes.url:
        replaced["url"] = changes.url
    if changes.method:
        replaced["method"] = changes.method
    pairs = given_headers(changes)
    if pairs is not None:
        replaced["headers"], replaced["headers_list"] = on_wire(pairs)
    if has_body(changes):
        replaced["body_base64"] = changes.body_base64
        replaced["truncated"] = replaced["body_size"] = UNSET
    return structs.replace(request, **replaced) if replaced else request


def has_body(changes: SerializedOverrides) -> bool:
    """Return whether changes have a body, perhaps an empty one."""
    return changes.body_base64 != ABSENT


def given_headers(changes: SerializedOverrides) -> HeaderPairs | None:
    """Return the headers of changes, names in lower case; ``None`` where none are given."""
    if changes.headers is UNSET and changes.headers_list is UNSET:
        return None
    return lower_case(changes.headers, changes.headers_list)
