"""Paths as they were sent, split before they are decoded, so that ``%2F`` is part of an id."""

import re
from urllib.parse import unquote_to_bytes

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def decode_segment(raw: str) -> str | None:
    """Decode the percent escapes of one path segment.

    :returns: ``None`` when an escape is bad or the bytes are not UTF-8: nothing has such a name.
    """
    if _BAD_ESCAPE.search(raw):
        return None
    try:
        return unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        return None


def is_plain_path(path: bytes) -> bool:
    """Tell whether a router may see ``path``.

    Routers merge slashes and fail on bytes that are not ASCII, so neither counts as a path here.
    """
    return path.startswith(b"/") and b"//" not in path and path.isascii()
