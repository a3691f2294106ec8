"""Rules of HTTP that the core, the forward proxy and the test library share, and headers.

Messages have headers as the map of protocol 3, and beside it the lines in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import UNSET, UnsetType

from trafficmock.wire.payloads.serialized_request import HeaderPairs

TCHAR = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
"""A regular expression for one character of a token (RFC 9110 section 5.6.2)."""

TOKEN = re.compile(f"{TCHAR}+")
"""A token: the name of a header, or a method."""

BAD_VALUE = re.compile(r"[\0\r\n]|[^\0-\xff]")
"""A character that the value of a header must not have (RFC 9110 section 5.5) or that is not in
latin-1."""

CONTEXT_MEMBER = "trafficmock.test"
"""The member of ``baggage`` (W3C Baggage) with the context of a test."""

CONTEXT_COOKIE = "trafficmock_test"
"""The cookie with the context of a test."""

UNFRAMED_STATUSES = frozenset({204, 304})
"""Statuses of final responses that end with their header section (RFC 9112 section 6.3)."""

BODILESS_STATUSES = UNFRAMED_STATUSES | {205}
"""Statuses of responses without content; 205 has a length of 0 (RFC 9110 section 15.3.6)."""

CREDENTIALS = frozenset({"authorization", "cookie", "cookie2", "proxy-authorization"})
"""Headers that are not sent to another origin after a redirect, as in Twisted's ``RedirectAgent``
and in Node's ``fetch``."""

CONTENT_HEADERS = frozenset(
    {
        "content-encoding",
        "content-language",
        "content-length",
        "content-location",
        "content-type",
    }
)
"""Headers about the content, which a request without content does not have."""


def repeat_separator(name: str) -> str:
    """Return the separator that joins the values of a repeated header.

    :param name: the name of the header, in lower case.
    :returns: ``; `` for ``cookie``, whose value is no list (RFC 6265 section 5.4), else ``, ``
        (RFC 9110 section 5.3).
    """
    return "; " if name == "cookie" else ", "


def join_repeats(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Join header lines to the map of protocol 3: lower-case names, repeated values joined."""
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


def lines_of(headers: dict[str, str] | UnsetType, listed: HeaderPairs | UnsetType) -> HeaderPairs:
    """Return the header lines of a message.

    :param headers: the map; ``UNSET`` for overrides without headers.
    :param listed: the list, which counts before the map.
    """
    if listed is not UNSET:
        return listed
    return [] if headers is UNSET else [*headers.items()]


def lower_case(headers: dict[str, str] | UnsetType, listed: HeaderPairs | UnsetType) -> HeaderPairs:
    """Return the header lines of a message with names in lower case, see :func:`lines_of`."""
    return [(name.lower(), value) for name, value in lines_of(headers, listed)]


def on_wire(lines: Sequence[tuple[str, str]]) -> tuple[dict[str, str], HeaderPairs | UnsetType]:
    """Return the map of protocol 3, and the list if a name repeats."""
    headers = join_repeats(lines)
    return headers, UNSET if len(headers) == len(lines) else [*lines]
