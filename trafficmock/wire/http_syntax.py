"""Rules of HTTP that the core, the forward proxy and the test library share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TCHAR = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
"""A character class for regular expressions: a token consists of these (RFC 9110 section 5.6.2)."""

TOKEN = re.compile(f"{TCHAR}+")
"""The name of a header, or a method."""

BAD_VALUE = re.compile(r"[\0\r\n]|[^\0-\xff]")
"""What the value of a header cannot carry (RFC 9110 section 5.5), within latin-1."""

UNFRAMED_STATUSES = frozenset({204, 304})
"""Final responses that end with their header section (RFC 9112 section 6.3)."""

BODILESS_STATUSES = UNFRAMED_STATUSES | {205}
"""Responses that cannot carry content; 205 announces a length of 0 (RFC 9110 section 15.3.6)."""


def repeat_separator(name: str) -> str:
    """Give what stands between the values of a header that repeats, written as one value.

    :param name: in lower case.
    :returns: ``; `` for ``cookie``, whose value is no list (RFC 6265 section 5.4), else ``, ``
        (RFC 9110 section 5.3).
    """
    return "; " if name == "cookie" else ", "


def join_repeats(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Write header lines as the map of protocol 3: values by lower-case name, repeats joined."""
    headers: dict[str, str] = {}
    repeats: dict[str, list[str]] = {}
    for name, value in lines:
        lower = name.lower()
        if lower in headers:
            repeats.setdefault(lower, [headers[lower]]).append(value)
        else:
            headers[lower] = value
    for name, values in repeats.items():
        headers[name] = repeat_separator(name).join(values)
    return headers
