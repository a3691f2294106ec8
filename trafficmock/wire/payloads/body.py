"""Bodies in messages: JSON text as it came, or bytes.

A body that came in a message is the raw JSON text ``null`` or a quoted base64 string. Most are only
passed on. They are therefore not decoded, and the only check is
:func:`~trafficmock.wire.codec.is_plain`: ASCII text without an escape can be copied into any JSON
document.

A body that this process has itself is bytes, never empty. It becomes base64 when its message is
encoded, which messages between parts of one process never are.
"""

import binascii
import re
from typing import TYPE_CHECKING

import pybase64
from msgspec import Raw

if TYPE_CHECKING:
    MessageBody = Raw | bytes
else:
    MessageBody = Raw
    """What the decoder of messages makes of a body; the encoder takes bytes in its place."""

ABSENT = Raw()
"""The key is absent: in overrides, the original body stays."""

NULL = Raw(b"null")
"""No body."""

EMPTY = (b"", b"null")
"""The JSON text of a body that is absent or ``null``."""

_PAD = ord("=")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")


def from_bytes(content: bytes | bytearray | None) -> MessageBody:
    """Return ``content`` as a body; ``None`` and empty bytes become ``null``."""
    return bytes(content) if content else NULL


def to_bytes(body: MessageBody) -> bytes:
    """Return the bytes of ``body``.

    Base64 is decoded as Node's ``Buffer.from(text, "base64")`` does: characters that base64 does
    not have are skipped, and ``=`` ends the body.

    :returns: the bytes, empty for an absent body and for ``null``.
    """
    if isinstance(body, bytes):
        return body
    text = bytes(body)[1:-1]
    if bytes(body) in EMPTY:
        return b""
    try:
        return pybase64.b64decode(text, validate=True)
    except binascii.Error:
        text = text.translate(bytes.maketrans(b"-_", b"+/")).partition(b"=")[0]
        text = _NOT_BASE64.sub(b"", text)
        if len(text) % 4 == 1:
            text = text[:-1]
        return pybase64.b64decode(text + b"=" * (-len(text) % 4))


def to_text(body: MessageBody) -> bytes:
    """Return the JSON text of ``body``; empty for an absent body."""
    return b'"%b"' % pybase64.b64encode(body) if isinstance(body, bytes) else bytes(body)


def is_empty(body: MessageBody) -> bool:
    """Return whether ``body`` is absent or ``null``."""
    return not isinstance(body, bytes) and len(memoryview(body)) <= len("null")


def size(body: MessageBody) -> int:
    """Count the bytes of ``body`` without decoding or copying it."""
    if isinstance(body, bytes):
        return len(body)
    text = memoryview(body)
    if len(text) <= len("null"):
        return 0
    padding = (text[-2] == _PAD) + (text[-3] == text[-2] == _PAD)
    return (len(text) - 2) * 3 // 4 - padding


def is_longer(body: MessageBody, limit: int) -> bool:
    """Return whether ``body`` has more than ``limit`` bytes."""
    if isinstance(body, bytes):
        return len(body) > limit
    return len(memoryview(body)) * 3 // 4 > limit and size(body) > limit


def beginning(body: MessageBody, limit: int) -> MessageBody:
    """Return the beginning of ``body``: at most ``limit`` bytes, cut at a base64 group."""
    if isinstance(body, bytes):
        return body[: limit // 3 * 3] or NULL
    return Raw(bytes(memoryview(body)[: 1 + limit // 3 * 4]) + b'"')


def alone(body: MessageBody) -> MessageBody:
    """Return ``body`` without a reference to the message that it came in."""
    return body if isinstance(body, bytes) else body.copy()


def letters(body: MessageBody) -> int:
    """Return the number of characters of ``body`` in an encoded message."""
    if isinstance(body, bytes):
        return (len(body) + 2) // 3 * 4 + 2
    return len(memoryview(body))
