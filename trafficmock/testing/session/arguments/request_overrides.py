"""What handlers change in a request: it adds up along the chain of fallbacks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import ada_url
from attrs import evolve, frozen
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
    """Overrides so far; ``None`` leaves a part as it was.

    :param body: empty bytes send no body.
    :param body_kind: the content type that the body has by its nature.
    """

    url: str | None = None
    method: str | None = None
    headers: Pairs | None = None
    body: bytes | None = None
    body_kind: str = BYTES

    def __bool__(self) -> bool:
        return any(part is not None for part in (self.url, self.method, self.headers, self.body))


NO_CHANGES = Changes()


def read_body(post_data: PostData) -> tuple[bytes, str] | None:
    """Make bytes of what a test gives for a body, and tell what they are.

    Objects become JSON; ``None``, ``False`` and 0 are no body and change nothing.
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
    """Add a handler's changes; each part it names replaces the one before.

    :raises UsageError: a header value that is not a string.
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
    """See to it that the request stays on its scheme (Playwright's rule).

    :raises UsageError: it does not.
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
    """Say on the wire what ``continue_`` changes; ``None`` when that is nothing."""
    if not changes:
        return None
    pairs = None if changes.headers is None else hd.for_continue(original, changes.headers)
    if changes.body is not None:
        pairs = _with_length(original if pairs is None else pairs, changes.body)
    return _overrides(changes, pairs)


def for_fetch(original: Pairs, changes: Changes) -> SerializedOverrides | None:
    """Say on the wire what ``fetch`` changes; here no header is forbidden."""
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
    """Write a text that is not JSON as a JSON string, since it is sent as JSON."""
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
