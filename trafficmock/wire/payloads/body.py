"""Bodies in messages: the raw JSON text ``null`` or a quoted base64 string.

Most bodies are only passed on. They are therefore not decoded, and the only check is
:func:`is_plain`: ASCII text without an escape can be copied into any JSON document.
"""

import binascii
import re

import pybase64
from msgspec import Raw

ABSENT = Raw()
"""The key is absent: in overrides, the original body stays."""

NULL = Raw(b"null")
"""No body."""

_EMPTY = (b"", b"null")
_PAD = ord("=")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")


def is_plain(body: Raw) -> bool:
    """Return whether ``body`` can be passed on as it is: absent, ``null`` or plain ASCII text."""
    text = bytes(body)
    if text[:1] != b'"':
        return text in _EMPTY
    return text.isascii() and b"\\" not in text


def from_bytes(content: bytes | bytearray | None) -> Raw:
    """Encode ``content`` as a body; ``None`` and empty bytes become ``null``."""
    if not content:
        return NULL
    return Raw(b'"%b"' % pybase64.b64encode(content))


def to_bytes(body: Raw) -> bytes:
    """Decode ``body`` as Node's ``Buffer.from(text, "base64")`` does.

    Characters that base64 does not have are skipped; ``=`` ends the body.

    :returns: the bytes, empty for an absent body and for ``null``.
    """
    text = bytes(body)[1:-1]
    if bytes(body) in (b"null", b""):
        return b""
    try:
        return pybase64.b64decode(text, validate=True)
    except binascii.Error:
        text = text.translate(bytes.maketrans(b"-_", b"+/")).partition(b"=")[0]
        text = _NOT_BASE64.sub(b"", text)
        if len(text) % 4 == 1:
            text = text[:-1]
        return pybase64.b64decode(text + b"=" * (-len(text) % 4))


def is_empty(body: Raw) -> bool:
    """Return whether ``body`` is absent or ``null``."""
    return len(memoryview(body)) <= len("null")


def size(body: Raw) -> int:
    """Count the decoded bytes of ``body`` without decoding or copying it."""
    text = memoryview(body)
    if len(text) <= len("null"):
        return 0
    padding = (text[-2] == _PAD) + (text[-3] == text[-2] == _PAD)
    return (len(text) - 2) * 3 // 4 - padding


def is_longer(body: Raw, limit: int) -> bool:
    """Return whether ``body`` has more than ``limit`` decoded bytes."""
    return len(memoryview(body)) * 3 // 4 > limit and size(body) > limit


def beginning(body: Raw, limit: int) -> Raw:
    """Return the beginning of ``body``: at most ``limit`` decoded bytes, cut at a base64 group."""
    return Raw(bytes(memoryview(body)[: 1 + limit // 3 * 4]) + b'"')


def letters(body: Raw) -> int:
    """Return the number of characters of ``body`` in a message."""
    return len(memoryview(body))
