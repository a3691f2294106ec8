"""Determines how the body of a message is delimited (RFC 9112 section 6.3)."""

from __future__ import annotations

import enum
import re

from msgspec import Struct

from trafficmock.proxy.http1.heads import BadMessageError, Head, RequestHead, ResponseHead, tokens
from trafficmock.wire.http_syntax import UNFRAMED_STATUSES

_DIGITS = re.compile(rb"[0-9]{1,18}")
_FIRST_FINAL = 200
_SUCCESSES = range(200, 300)


class BodyKind(enum.Enum):
    """How the end of a body is determined."""

    NONE = enum.auto()
    LENGTH = enum.auto()
    CHUNKED = enum.auto()
    UNTIL_CLOSE = enum.auto()


class Framing(Struct, frozen=True):
    """How a body is delimited.

    :param length: its bytes, for :attr:`BodyKind.LENGTH` only.
    """

    kind: BodyKind
    length: int = 0


NONE = Framing(BodyKind.NONE)
CHUNKED = Framing(BodyKind.CHUNKED)
UNTIL_CLOSE = Framing(BodyKind.UNTIL_CLOSE)


def of_content(content: bytes) -> Framing:
    """Return the framing of a body of which all is there."""
    return Framing(BodyKind.LENGTH, len(content)) if content else NONE


def of_request(head: RequestHead) -> Framing:
    """Return the framing of a request's body.

    :raises BadMessageError: if it is malformed, or two parsers could read it differently.
    """
    coding = head.fields.get(b"transfer-encoding")
    length = head.fields.get(b"content-length")
    if coding is None:
        return NONE if length is None else _length(length)
    if length is not None:
        raise BadMessageError("Transfer-Encoding and Content-Length exclude each other.")
    if head.minor == 0:
        raise BadMessageError("HTTP/1.0 has no Transfer-Encoding.")
    return _chunked(coding)


def of_response(head: ResponseHead, method: bytes) -> Framing:
    """Return the framing of the body of a response to a request with ``method``.

    Chunks count before a length (RFC 9112 section 6.3), which is not to be forwarded then.

    :raises BadMessageError: if it is malformed, or two parsers could read it differently.
    """
    status = head.status
    if method == b"HEAD" or status < _FIRST_FINAL or status in UNFRAMED_STATUSES:
        return NONE
    if method == b"CONNECT" and status in _SUCCESSES:
        return NONE
    coding = head.fields.get(b"transfer-encoding")
    length = head.fields.get(b"content-length")
    if coding is not None:
        return _chunked(coding)
    return UNTIL_CLOSE if length is None else _length(_once(length))


def has_two(head: Head) -> bool:
    """Return whether a head has a length and a transfer coding: its connection is not reused."""
    return b"transfer-encoding" in head.fields and b"content-length" in head.fields


def keeps_alive(head: Head) -> bool:
    """Return whether the sender of ``head`` keeps the connection open (RFC 9112 section 9.3)."""
    value = head.fields.get(b"connection")
    if value is None:
        return head.minor > 0
    wanted = tokens(value)
    return b"close" not in wanted and (head.minor > 0 or b"keep-alive" in wanted)


def _once(value: bytes) -> bytes:
    """Read a length that a server has said several times as one (RFC 9110 section 8.6)."""
    said = {part.strip(b" \t") for part in value.split(b",")} if b"," in value else {value}
    return said.pop() if len(said) == 1 else value


def _length(value: bytes) -> Framing:
    """Read a ``Content-Length``: one value, of digits only."""
    if not _DIGITS.fullmatch(value):
        raise BadMessageError("Content-Length is not one number.")
    length = int(value)
    return Framing(BodyKind.LENGTH, length) if length else NONE


def _chunked(value: bytes) -> Framing:
    if value.lower() == b"chunked":
        return CHUNKED
    codings = [part.strip(b" \t").lower() for part in value.split(b",")]
    if codings[-1:] == [b"chunked"] and codings.count(b"chunked") == 1 and all(codings):
        raise BadMessageError(
            "No transfer coding but chunked is known here.", status=501, code="not_implemented"
        )
    raise BadMessageError("Transfer-Encoding is not chunked.")
