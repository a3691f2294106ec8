"""Decodes path segments one by one, so that ``%2F`` can be part of an id."""

import re
from urllib.parse import unquote_to_bytes

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def decode_segment(raw: str) -> str | None:
    """Decode the percent escapes of one path segment.

    :returns: ``None`` if an escape is malformed or the bytes are not UTF-8: no id is like that.
    """
    if _BAD_ESCAPE.search(raw):
        return None
    try:
        return unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        return None


def is_plain_path(path: bytes) -> bool:
    """Return whether Klein's router can handle a path.

    It merges slashes and fails at bytes that are not ASCII; such paths are answered with 404.
    """
    return path.startswith(b"/") and b"//" not in path and path.isascii()
