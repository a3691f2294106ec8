"""The context of a test on a request: as the member of a list, as a cookie, as a trace's id."""

from __future__ import annotations

MEMBER = "trafficmock.test"
COOKIE = "trafficmock_test"
LONGEST_LIST = 8192
"""Characters of a header in which the context is looked for (W3C Baggage allows no more)."""

_LONGEST_ID = 64
_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_HEX = frozenset("0123456789abcdef")
_NO_TRACE = "0" * 32
_TRACE_PARTS = (2, 32, 16, 2)
_FIRST_VERSION = "00"


def is_id(text: object) -> bool:
    """Tell whether a value may be the id of a context."""
    return (
        isinstance(text, str)
        and 0 < len(text) <= _LONGEST_ID
        and _CHARACTERS.issuperset(text)
        and text != _NO_TRACE
    )


def carried(baggage: str | None, cookie: str | None) -> str | None:
    """Give the id that a request carries as such: in its baggage, else in its cookie."""
    for text, separator, name in ((baggage, ",", MEMBER), (cookie, ";", COOKIE)):
        if text and name in text:
            found = _value(text, separator, name)
            if is_id(found):
                return found
    return None


def _value(text: str, separator: str, name: str) -> str | None:
    """Give the value of the first part of that name, without its properties."""
    if len(text) > LONGEST_LIST:
        # The part at the end may be cut, and would be another id.
        text = text[:LONGEST_LIST].rpartition(separator)[0]
    for part in text.split(separator):
        found, _, value = part.partition(";")[0].partition("=")
        if found.strip() == name:
            return value.strip()
    return None


def trace_id(traceparent: str | None) -> str | None:
    """Give the id of a trace (W3C Trace Context), ``None`` where it is not valid."""
    if not traceparent:
        return None
    parts = traceparent.split("-")
    version = parts[0]
    if len(parts) < len(_TRACE_PARTS) or version == "ff":
        return None
    if version == _FIRST_VERSION and len(parts) != len(_TRACE_PARTS):
        return None
    for part, length in zip(parts, _TRACE_PARTS):
        if len(part) != length or not _HEX.issuperset(part):
            return None
    return parts[1] if is_id(parts[1]) else None
