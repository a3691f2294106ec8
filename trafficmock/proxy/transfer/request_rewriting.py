"""Applies a test's overrides to a request, and writes mocked responses."""

from __future__ import annotations

import re

import ada_url
from msgspec import UNSET, Struct, structs

from trafficmock.proxy import request_target as targets
from trafficmock.proxy.http1.context_headers import with_context
from trafficmock.proxy.http1.forwarded_headers import (
    HOP_BY_HOP,
    LAST_CHUNK,
    chunk,
    last_chunk,
    response_block,
)
from trafficmock.proxy.http1.heads import BadMessageError, Pairs, RequestHead
from trafficmock.proxy.request_target import Origin, Target
from trafficmock.proxy.upstream_errors import UpstreamError
from trafficmock.texts.wording import url_text
from trafficmock.wire.changed_request import has_body
from trafficmock.wire.http_syntax import BAD_VALUE, TOKEN, UNFRAMED_STATUSES, lines_of
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_NOT_MODIFIED = 304
_LENGTH = re.compile(r"[0-9]{1,15}")
_WRITTEN_BY_PROXY = HOP_BY_HOP | {b"content-length"}


class Rewritten(Struct, frozen=True):
    """A request to a server, with the overrides applied.

    :param content: its body; ``None`` for the client's.
    """

    method: bytes
    origin: Origin
    path: bytes
    url: str
    pairs: Pairs
    content: bytes | None

    __repr__ = quiet_repr


def rewrite(
    method: bytes,
    target: Target,
    pairs: Pairs,
    overrides: SerializedOverrides,
    context: bytes | None = None,
) -> Rewritten:
    """Apply overrides to a request.

    :param context: the context of the request, which is added to overridden headers, because
        tests do not see it.
    :raises UpstreamError: if an override cannot be sent over HTTP.
    """
    if overrides.url is not UNSET:
        target = _aim(overrides.url)
    changed = method if overrides.method is UNSET else _method(overrides.method)
    if overrides.headers_list is not UNSET or overrides.headers is not UNSET:
        pairs = _pairs(lines_of(overrides.headers, overrides.headers_list))
        if context is not None:
            pairs = with_context(pairs, context)
    content = bodies.to_bytes(overrides.body_base64) if has_body(overrides) else None
    if content is None and changed != method and changed in {b"GET", b"HEAD"}:
        content = b""
    return Rewritten(changed, target.origin, target.path, target.url, pairs, content)


def without_field(request: Rewritten, name: bytes) -> Rewritten:
    pairs = _other_than(name, request.pairs)
    return request if len(pairs) == len(request.pairs) else structs.replace(request, pairs=pairs)


def _other_than(name: bytes, pairs: Pairs) -> Pairs:
    return [pair for pair in pairs if pair[0].lower() != name]


def mock_bytes(response: SerializedResponse, request: RequestHead, *, close: bool) -> bytes:
    """Write the bytes of a mocked response.

    :param request: that it answers.
    :param close: whether the connection ends with the response.
    :raises UpstreamError: if a header cannot be sent over HTTP.
    """
    given, method = lines_of(response.headers, response.headers_list), request.method
    content = bodies.to_bytes(response.body_base64)
    if response.trailers and request.minor > 0:
        head = streamed_head(response, chunked=True, close=close)
        return head + (chunk(content) if content else b"") + streamed_end(response)
    pairs = _pairs(given)
    may_differ = not content and (method == b"HEAD" or response.status == _NOT_MODIFIED)
    length = _written_length(given) if may_differ else None
    if length is not None:
        pairs.append((b"content-length", length))
    elif response.status not in UNFRAMED_STATUSES and not (may_differ and method == b"HEAD"):
        pairs.append((b"content-length", b"%d" % len(content)))
    block = response_block(
        response.status,
        response.status_text.encode("latin-1", "replace"),
        pairs,
        chunked=False,
        close=close,
        via=b"",
    )
    if method == b"HEAD" or response.status in UNFRAMED_STATUSES:
        return block
    return block + content


def streamed_head(response: SerializedResponse, *, chunked: bool, close: bool) -> bytes:
    """Write the head of a mock whose body comes in pieces.

    :param chunked: whether the body has the chunked coding.
    :param close: whether the connection ends with the response.
    :raises UpstreamError: if a header cannot be sent over HTTP.
    """
    names = ", ".join(name for name, _ in response.trailers or ()).encode("ascii", "replace")
    announced = [(b"trailer", names)] if names and chunked else []
    return response_block(
        response.status,
        response.status_text.encode("latin-1", "replace"),
        [*_pairs(lines_of(response.headers, response.headers_list)), *announced],
        chunked=chunked,
        close=close,
        via=b"",
    )


def streamed_end(head: SerializedResponse) -> bytes:
    """Write the end of a mock whose body was sent in chunks: its trailers follow the last one."""
    return last_chunk(_pairs(head.trailers)) if head.trailers else LAST_CHUNK


def _written_length(lines: list[tuple[str, str]]) -> bytes | None:
    """Read the length in a mock for HEAD or 304: that of a GET's body (RFC 9110 section 8.6)."""
    for name, value in lines:
        if name.lower() == "content-length" and _LENGTH.fullmatch(value):
            return value.encode()
    return None


def _method(name: str) -> bytes:
    if not TOKEN.fullmatch(name):
        raise _unsendable(f"{name!r} is not a method")
    return name.upper().encode("ascii")


def _aim(url: str) -> Target:
    try:
        parsed = ada_url.URL(url)
        parsed.hash = ""
        return targets.absolute(str(parsed.href).encode("ascii"))
    except (ValueError, BadMessageError) as error:
        shown = url_text(url, quoted=True)  # its values are not shown: nobody here can redact them
        raise _unsendable(f"{shown} is not a URL that can be asked for") from error


def _pairs(lines: list[tuple[str, str]]) -> Pairs:
    """Encode header lines, without those that the proxy writes itself."""
    pairs: Pairs = []
    for name, value in lines:
        if not TOKEN.fullmatch(name) or BAD_VALUE.search(value):
            raise _unsendable(f"{name!r} is not a header that can be sent")
        raw = name.encode("ascii")
        if raw.lower() not in _WRITTEN_BY_PROXY:
            pairs.append((raw, value.strip(" \t").encode("latin-1")))
    return pairs


def _unsendable(text: str) -> UpstreamError:
    return UpstreamError(f"The test's overrides cannot be sent: {text}.", code="bad_override")
