"""The changes of handlers to a request, and the overrides that they make (feature ``chain``)."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from msgspec import UNSET, UnsetType, structs

from trafficmock.wire.changed_request import given_headers, has_body
from trafficmock.wire.http_syntax import lower_case, on_wire
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import (
    HeaderPairs,
    SerializedOverrides,
    SerializedRequest,
)

NO_CHANGES = SerializedOverrides()

_FORBIDDEN = frozenset(
    {
        "accept-charset",
        "accept-encoding",
        "access-control-request-headers",
        "access-control-request-method",
        "connection",
        "content-length",
        "cookie",
        "date",
        "dnt",
        "expect",
        "host",
        "keep-alive",
        "origin",
        "referer",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    }
)
_METHOD_OVERRIDES = frozenset({"x-http-method", "x-http-method-override", "x-method-override"})
_FORBIDDEN_METHODS = frozenset({"connect", "trace", "track"})
_JSON = "application/json"


def merged(
    before: SerializedOverrides, more: SerializedOverrides | UnsetType
) -> SerializedOverrides:
    """Add the changes of a handler to those before; a part that it gives replaces the earlier one.

    An empty URL or method changes nothing (Playwright's rule).
    """
    if more is UNSET:
        return before
    changes: dict[str, object] = {}
    if more.url:
        changes["url"] = more.url
    if more.method:
        changes["method"] = more.method
    if more.headers is not UNSET or more.headers_list is not UNSET:
        changes["headers"] = more.headers
        changes["headers_list"] = more.headers_list
    if has_body(more):
        changes["body_base64"] = more.body_base64
        changes["content_type"] = more.content_type
    return structs.replace(before, **changes) if changes else before


def has_scheme_of(original: str, changes: SerializedOverrides) -> bool:
    """Return whether a new URL has the scheme of the request, as Playwright requires."""
    if changes.url is UNSET:
        return True
    try:
        scheme = urlsplit(changes.url).scheme
    except ValueError:
        return False
    return scheme == urlsplit(original).scheme.lower()


def for_continue(
    request: SerializedRequest, changes: SerializedOverrides
) -> SerializedOverrides | None:
    """Return the overrides that send a request with all changes; ``None`` without changes.

    Headers that a handler cannot set keep the values of the request (the forbidden headers of
    the Fetch standard).
    """
    if changes is NO_CHANGES:
        return None
    pairs = given_headers(changes)
    original = lower_case(request.headers, request.headers_list)
    if pairs is not None:
        kept = [pair for pair in original if is_forbidden(*pair)]
        pairs = [pair for pair in pairs if not is_forbidden(*pair)] + kept
    if has_body(changes):
        pairs = _with_length(original if pairs is None else pairs, body.size(changes.body_base64))
    return _overrides(changes, pairs)


def for_fetch(
    request: SerializedRequest, changes: SerializedOverrides
) -> SerializedOverrides | UnsetType:
    """Return the overrides of a handler's fetch; no header is forbidden there.

    A body without a ``content-type`` gets that of the changes. A text that is not JSON, with the
    content type of JSON, becomes a JSON string (Playwright's rule).
    """
    if changes is NO_CHANGES:
        return UNSET
    pairs = given_headers(changes)
    if has_body(changes):
        if pairs is None:
            pairs = lower_case(request.headers, request.headers_list)
        kind = next((value for name, value in pairs if name == "content-type"), None)
        if kind is None and changes.content_type is not UNSET:
            pairs = [*pairs, ("content-type", changes.content_type)]
        elif kind == _JSON:
            content = _as_json(body.to_bytes(changes.body_base64))
            changes = structs.replace(changes, body_base64=body.from_bytes(content))
        pairs = _with_length(pairs, body.size(changes.body_base64))
    return _overrides(changes, pairs)


def is_forbidden(name: str, value: str) -> bool:
    """Return whether a handler cannot set this header.

    :param name: in lower case.
    """
    if name in _FORBIDDEN or name.startswith(("proxy-", "sec-")):
        return True
    if name in _METHOD_OVERRIDES:
        methods = {method.strip().lower() for method in value.split(",")}
        return bool(methods & _FORBIDDEN_METHODS)
    return False


def _with_length(pairs: HeaderPairs, size: int) -> HeaderPairs:
    rest = [pair for pair in pairs if pair[0] != "content-length"]
    return [*rest, ("content-length", str(size))] if size else rest


def _as_json(content: bytes) -> bytes:
    try:
        json.loads(content)
    except ValueError:
        return json.dumps(content.decode("utf-8", "replace")).encode() if content else content
    return content


def _overrides(changes: SerializedOverrides, pairs: HeaderPairs | None) -> SerializedOverrides:
    headers, headers_list = (UNSET, UNSET) if pairs is None else on_wire(pairs)
    return structs.replace(changes, headers=headers, headers_list=headers_list, content_type=UNSET)
