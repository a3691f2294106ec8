"""The context of a test on a request: read, taken out and put in again.

A test puts an opaque id on the traffic that it causes. It arrives as the member
``trafficmock.test`` of ``baggage`` (W3C Baggage), as the cookie ``trafficmock_test``, or as the
trace id of ``traceparent`` (W3C Trace Context). The coordinator knows whether a test reserved it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trafficmock.proxy.http1.attached_clients import CONTEXT

if TYPE_CHECKING:
    from trafficmock.proxy.http1.heads import Pairs, RequestHead

MEMBER = b"trafficmock.test"
COOKIE = b"trafficmock_test"

LONGEST_LIST = 8192
"""Bytes of a header in which the context is looked for."""

_MARK = b"trafficmock"
"""Stands in every value that carries a context, and in few others."""

_ID = re.compile(rb"(?!0{32}\Z)[A-Za-z0-9._-]{1,64}")
_TRACE = re.compile(
    rb"(?:00-(?P<first>[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}"
    rb"|(?!00|ff)[0-9a-f]{2}-(?P<later>[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?)"
)
_TRACE_HEADER = b"traceparent"
_TRACE_LENGTH = len(_TRACE_HEADER)
"""Compared first: each request that leaves for others passes there."""

_NO_TRACE = b"0" * 32
_SEPARATORS = {b"baggage": (b",", MEMBER), b"cookie": (b";", COOKIE)}
"""By header: what stands between two parts, and the name of ours."""


def carried_context(head: RequestHead) -> bytes | None:
    """Give the context that a request carries as such; see :func:`context_id`.

    :returns: that of its baggage, else that of its cookie; ``None`` where both have none, or
        none that is well-formed. The first of several counts.
    """
    for header in _SEPARATORS:
        value = head.fields.get(header)
        if value is not None and _MARK in value:
            lines = [value for name, value in head.pairs if name.lower() == header]
            found = _first(header, lines)
            if found is not None:
                return found
    return None


def context_id(head: RequestHead) -> str | None:
    """Give the context of a request as text.

    :returns: the one that an attached process names, else the carried one, else the id of its
        trace.
    """
    found = _named(head) or carried_context(head) or trace_id(head)
    return None if found is None else found.decode("ascii")


def _named(head: RequestHead) -> bytes | None:
    value = head.fields.get(CONTEXT)
    return value if value and _ID.fullmatch(value) else None


def may_carry(pairs: Pairs) -> bool:
    """Tell whether header lines may have a context, or a trace; most have neither.

    A plain loop, since each request passes here.
    """
    for name, value in pairs:
        if _MARK in value or (len(name) == _TRACE_LENGTH and name.lower() == _TRACE_HEADER):
            return True
    return False


def ids_in(pairs: Pairs) -> set[bytes]:
    """Give the ids in header lines that contexts may have: those carried, and those of traces."""
    found: set[bytes | None] = set()
    for name, value in pairs:
        if _MARK in value:
            header = name.lower()
            if header in _SEPARATORS:
                found.add(_first(header, [value]))
        elif len(name) == _TRACE_LENGTH and name.lower() == _TRACE_HEADER:
            found.add(_trace(value))
    return {each for each in found if each is not None}


def with_other_id(pairs: Pairs, context: bytes, other: bytes) -> Pairs:
    """Put another id in the place of a context's, wherever it stands in the values.

    :returns: the same list where it does not.
    """
    if not any(context in value for _, value in pairs):
        return pairs
    return [(name, value.replace(context, other)) for name, value in pairs]


def trace_id(head: RequestHead) -> bytes | None:
    """Give the trace id of a request, ``None`` where it has no valid one."""
    value = head.fields.get(b"traceparent")
    return None if value is None else _trace(value)


def _trace(value: bytes) -> bytes | None:
    found = _TRACE.fullmatch(value)
    if found is None:
        return None
    trace = found["first"] or found["later"]
    return None if trace == _NO_TRACE else trace


def without_context(pairs: Pairs) -> Pairs:
    """Take the context out of header lines, wherever in them and however often it stands.

    A header that has nothing else is left out. The trace stays: it is the application's own.

    :returns: the same list where there is nothing to take out.
    """
    # A plain loop: most requests carry no context, and each passes here.
    for _, value in pairs:
        if _MARK in value:
            break
    else:
        return pairs
    kept: Pairs = []
    for pair in pairs:
        header = pair[0].lower()
        if header not in _SEPARATORS or _MARK not in pair[1]:
            kept.append(pair)
            continue
        separator, ours = _SEPARATORS[header]
        parts = pair[1].split(separator)
        others = [part for part in parts if _name(part) != ours]
        if len(others) == len(parts):
            kept.append(pair)
        elif any(part.strip(b" \t") for part in others):
            kept.append((pair[0], separator.join(others).strip(b" \t")))
    return kept


def with_context(pairs: Pairs, context: bytes) -> Pairs:
    """Put a context into header lines, as the first member of their baggage.

    The first, since what is too long for a receiver is cut off at the end.
    """
    member = b"%s=%s" % (MEMBER, context)
    pairs = without_context(pairs)
    for at, (name, value) in enumerate(pairs):
        if name.lower() == b"baggage":
            return [*pairs[:at], (name, b"%s,%s" % (member, value)), *pairs[at + 1 :]]
    return [*pairs, (b"baggage", member)]


def _first(header: bytes, lines: list[bytes]) -> bytes | None:
    """Find the first part of ours in the lines of a header, as far as they are looked at."""
    separator, ours = _SEPARATORS[header]
    left = LONGEST_LIST
    for line in lines:
        looked_at = line
        if len(line) > left:
            # The part at the end may be cut, and would be another id.
            looked_at = line[:left].rpartition(separator)[0]
        left -= len(line)
        for part in looked_at.split(separator):
            if _name(part) == ours:
                value = part.partition(b"=")[2].partition(b";")[0].strip(b" \t")
                return value if _ID.fullmatch(value) else None
        if left <= 0:
            return None
    return None


def _name(part: bytes) -> bytes:
    return part.partition(b"=")[0].strip(b" \t")


def stamped(pairs: Pairs, context: bytes, span: bytes) -> Pairs:
    """Put a context into header lines, and into a trace where they have none.

    :param context: 32 hexadecimal digits, so that it can be a trace id.
    :param span: 16 hexadecimal digits.
    """
    pairs = with_context(pairs, context)
    if any(name.lower() == b"traceparent" for name, _ in pairs):
        return pairs
    return [*pairs, (b"traceparent", b"00-%s-%s-01" % (context, span))]
