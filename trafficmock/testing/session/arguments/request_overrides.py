"""The changes of handlers to a request; each fallback adds to those before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import ada_url
from attrs import evolve, field, frozen
from msgspec import UNSET

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

if TYPE_CHECKING:
    from trafficmock.testing.session.arguments.headers import HeadersArgument, Pairs

PostData = str | bytes | dict[str, Any] | list[Any] | int | float | bool | None
JSON = "application/json"
BYTES = "application/octet-stream"


@frozen
class Changes:
    """The changes to a request so far; ``None`` leaves a part unchanged.

    :param body: the new body; empty bytes remove it.
    :param body_kind: the default content type of the new body.
    """

    url: str | None = None
    method: str | None = None
    headers: Pairs | None = field(default=None, repr=False)
    body: bytes | None = field(default=None, repr=False)
    body_kind: str = BYTES

    def __bool__(self) -> bool:
        return any(part is not None for part in (self.url, self.method, self.headers, self.body))


NO_CHANGES = Changes()


def read_body(post_data: PostData) -> tuple[bytes, str] | None:
    """Convert the argument ``post_data`` to bytes and their default content type.

    Text is encoded as UTF-8, other values as JSON.

    :returns: ``None`` for ``None``, ``False`` and 0, which change nothing (Playwright's rule).
    """
    if isinstance(post_data, str):
        return post_data.encode("utf-8", "surrogatepass"), BYTES
    if isinstance(post_data, bytes | bytearray | memoryview):
        return bytes(post_data), BYTES
    if isinstance(post_data, dict | list) or post_data:
        return json.dumps(post_data).encode(), JSON
    return None


def merge(
    before: Changes,
    *,
    url: str | None,
    method: str | None,
    headers: HeadersArgument | None,
    post_data: PostData,
) -> Changes:
    """Add a handler's changes; a part that it gives replaces the earlier one.

    :raises UsageError: a header value is not a string.
    """
    after = before
    if url is not None:
        after = evolve(after, url=url)
    if method:
        after = evolve(after, method=method)
    if headers is not None:
        after = evolve(after, headers=hd.strict(headers))
    content = read_body(post_data)
    if content is not None:
        after = evolve(after, body=content[0], body_kind=content[1])
    return after


def check_scheme(original: str, changes: Changes) -> None:
    """Check that a new URL has the scheme of the request (Playwright's rule).

    :raises UsageError: it has another scheme, or it is not a URL.
    """
    if changes.url is None:
        return
    try:
        same = ada_url.URL(changes.url).protocol == ada_url.URL(original).protocol
    except ValueError:
        raise UsageError(f"invalid URL: {changes.url!r}") from None
    if not same:
        raise UsageError(
            f"new URL must have the same protocol as the request's: {changes.url!r} for {original}"
        )


def for_continue(original: Pairs, changes: Changes) -> SerializedOverrides | None:
    """Return the overrides of ``continue`` for the proxy; ``None`` without changes."""
    if not changes:
        return None
    pairs = None if changes.headers is None else hd.for_continue(original, changes.headers)
    if changes.body is not None:
        pairs = _with_length(original if pairs is None else pairs, changes.body)
    return _overrides(changes, pairs)


def for_fetch(original: Pairs, changes: Changes) -> SerializedOverrides | None:
    """Return the overrides of ``fetch`` for the proxy; no header is forbidden here."""
    if not changes:
        return None
    pairs = changes.headers
    if changes.body is not None:
        pairs = original if pairs is None else pairs
        content = changes.body
        if hd.get(pairs, "content-type") is None:
            pairs = (*pairs, ("content-type", changes.body_kind))
        elif hd.get(pairs, "content-type") == JSON:
            content = _as_json(content)
        changes = evolve(changes, body=content)
        pairs = _with_length(pairs, content)
    return _overrides(changes, pairs)


def _as_json(content: bytes) -> bytes:
    """Convert a text that is not JSON to a JSON string: the content type says JSON."""
    try:
        json.loads(content)
    except ValueError:
        return json.dumps(content.decode("utf-8", "replace")).encode() if content else content
    return content


def _with_length(pairs: Pairs, content: bytes) -> Pairs:
    rest = hd.without(pairs, "content-length")
    return (*rest, ("content-length", str(len(content)))) if content else rest


def _overrides(changes: Changes, pairs: Pairs | None) -> SerializedOverrides:
    headers, headers_list = (UNSET, UNSET) if pairs is None else hd.to_wire(pairs)
    return SerializedOverrides(
        url=UNSET if changes.url is None else changes.url,
        method=UNSET if changes.method is None else changes.method,
        headers=headers,
        body_base64=body.ABSENT if changes.body is None else body.from_bytes(changes.body),
        headers_list=headers_list,
    )
