"""Reads the context of a test from the headers of a request: baggage, cookie, ``traceparent``."""

from __future__ import annotations

MEMBER = "trafficmock.test"
COOKIE = "trafficmock_test"
LONGEST_LIST = 8192
"""Characters of a header in which the context is searched: W3C Baggage requires no more."""

_LONGEST_ID = 64
_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_HEX = frozenset("0123456789abcdef")
_NO_TRACE = "0" * 32
_TRACE_PARTS = (2, 32, 16, 2)
_FIRST_VERSION = "00"


def is_id(text: object) -> bool:
    """Return whether a value can be the id of a context."""
    return (
        isinstance(text, str)
        and 0 < len(text) <= _LONGEST_ID
        and _CHARACTERS.issuperset(text)
        and text != _NO_TRACE
    )


def carried(baggage: str | None, cookie: str | None) -> str | None:
    """Return the context in the baggage of a request, else in its cookie; else ``None``."""
    for text, separator, name in ((baggage, ",", MEMBER), (cookie, ";", COOKIE)):
        if text and name in text:
            found = _value(text, separator, name)
            if is_id(found):
                return found
    return None


def _value(text: str, separator: str, name: str) -> str | None:
    """Return the value of the first part with a name, without its properties."""
    if len(text) > LONGEST_LIST:
        # The last part may be cut, and the rest of an id would be another id.
        text = text[:LONGEST_LIST].rpartition(separator)[0]
    for part in text.split(separator):
        found, _, value = part.partition(";")[0].partition("=")
        if found.strip() == name:
            return value.strip()
    return None


def trace_id(traceparent: str | None) -> str | None:
    """Return the trace id in ``traceparent`` (W3C Trace Context); ``None`` if it is not valid."""
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
