"""Reads the header ``traceparent`` (W3C Trace Context) of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

_TRACEPARENT = re.compile(
    r"[ \t]*(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})"
    r"-[0-9a-f]{2}(?:-.*)?[ \t]*"
)


class TraceParent(Struct, frozen=True, gc=False):
    """The span that is the parent of another.

    :param trace_id: 16 bytes.
    :param span_id: 8 bytes.
    """

    trace_id: bytes
    span_id: bytes


def trace_parent(headers: Mapping[str, str]) -> TraceParent | None:
    """Return the parent that a request names; ``None`` without one, or if it is not valid.

    :param headers: with names in lower case.
    """
    value = headers.get("traceparent")
    return None if value is None else read(value)


def read(value: str) -> TraceParent | None:
    """Return the parent in the value of a header, as :func:`trace_parent` does."""
    found = _TRACEPARENT.fullmatch(value)
    if found is None:
        return None
    return TraceParent(bytes.fromhex(found[1]), bytes.fromhex(found[2]))
