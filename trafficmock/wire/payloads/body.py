"""Bodies as they travel: ``null`` or a quoted base64 string, kept as raw JSON.

A body is nearly always passed on unread, so it is neither decoded nor checked
beyond what makes passing it on safe: plain ASCII without an escape is the same
text in every JSON document.
"""

import binascii
import re

import pybase64
from msgspec import Raw

ABSENT = Raw()
"""The key is not there (an override that keeps the original body)."""

NULL = Raw(b"null")
"""No body."""

_EMPTY = (b"", b"null")
_PAD = ord("=")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")


def is_plain(body: Raw) -> bool:
    """Tell whether ``body`` may be passed on as it is: absent, ``null`` or plain ASCII text."""
    text = bytes(body)
    if text[:1] != b'"':
        return text in _EMPTY
    return text.isascii() and b"\\" not in text


def from_bytes(content: bytes | bytearray | None) -> Raw:
    """Make a body of ``content``; nothing and no bytes are both ``null``."""
    if not content:
        return NULL
    return Raw(b'"%b"' % pybase64.b64encode(content))


def to_bytes(body: Raw) -> bytes:
    """Decode ``body`` as leniently as Node does: junk is skipped, ``=`` ends it.

    :returns: the bytes, empty when there is no body.
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
    """Tell whether ``body`` is absent or ``null``."""
    return len(memoryview(body)) <= len("null")


def size(body: Raw) -> int:
    """Count the decoded bytes of ``body`` without decoding or copying it."""
    text = memoryview(body)
    if len(text) <= len("null"):
        return 0
    padding = (text[-2] == _PAD) + (text[-3] == text[-2] == _PAD)
    return (len(text) - 2) * 3 // 4 - padding


def is_longer(body: Raw, limit: int) -> bool:
    """Tell whether ``body`` has more than ``limit`` bytes, mostly without counting them."""
    return len(memoryview(body)) * 3 // 4 > limit and size(body) > limit


def beginning(body: Raw, limit: int) -> Raw:
    """Cut ``body`` to at most ``limit`` bytes; at a place where base64 can be cut."""
    return Raw(bytes(memoryview(body)[: 1 + limit // 3 * 4]) + b'"')


def letters(body: Raw) -> int:
    """Count the characters that ``body`` takes in a message."""
    return len(memoryview(body))
