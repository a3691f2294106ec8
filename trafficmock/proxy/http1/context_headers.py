"""Reads, removes and adds the context of a test in the header of a request.

A context is an opaque id on the traffic that a test causes. It is the member ``trafficmock.test``
of ``baggage`` (W3C Baggage), the cookie ``trafficmock_test``, or the trace id of ``traceparent``
(W3C Trace Context). The coordinator knows which ids tests have reserved.
"""

from __future__ import annotations

import re

from trafficmock.proxy.http1.attached_clients import CONTEXT
from trafficmock.proxy.http1.heads import Pairs, RequestHead
from trafficmock.wire.http_syntax import CONTEXT_COOKIE, CONTEXT_MEMBER

_MEMBER = CONTEXT_MEMBER.encode()

LONGEST_LIST = 8192
"""Bytes of the values of a header in which the context is searched."""

_MARK = b"trafficmock"
"""Part of every value with a context, and of few others: a cheap first check."""

_ID = re.compile(rb"(?!0{32}\Z)[A-Za-z0-9._-]{1,64}")
_TRACE = re.compile(
    rb"(?:00-(?P<first>[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}"
    rb"|(?!00|ff)[0-9a-f]{2}-(?P<later>[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?)"
)
_TRACE_HEADER = b"traceparent"
_TRACE_LENGTH = len(_TRACE_HEADER)
"""Compared first, because every outgoing header line is checked."""

_NO_TRACE = b"0" * 32
_SEPARATORS = {b"baggage": (b",", _MEMBER), b"cookie": (b";", CONTEXT_COOKIE.encode())}
"""By header name: the separator of its parts, and the name of the part with the context."""


def carried_context(head: RequestHead) -> bytes | None:
    """Return the context in the baggage or cookie of a request; see :func:`context_id`.

    :returns: the first one in its baggage, else in its cookie; ``None`` if neither has one that
        is well-formed.
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
    """Return the context of a request as text.

    :returns: the one in ``Trafficmock-Context``, else in baggage or cookie, else the id of the
        trace; ``None`` if there is none.
    """
    fields = head.fields
    found = fields.get(CONTEXT)
    if not found or not _ID.fullmatch(found):
        found = None if _SEPARATORS.keys().isdisjoint(fields) else carried_context(head)
        if found is None and _TRACE_HEADER in fields:
            found = trace_id(head)
    return None if found is None else found.decode("ascii")


def may_carry(pairs: Pairs) -> bool:
    """Return whether header lines may have a context or a trace; most have neither.

    It is a plain loop for speed: it runs for each outgoing request.
    """
    for name, value in pairs:
        if _MARK in value or (len(name) == _TRACE_LENGTH and name.lower() == _TRACE_HEADER):
            return True
    return False


def ids_in(pairs: Pairs) -> set[bytes]:
    """Return the ids in header lines that may be contexts: those of baggage, cookies and traces."""
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
    """Replace a context by another id wherever it is in the values of header lines.

    :returns: the same list, if no value has the context.
    """
    if not any(context in value for _, value in pairs):
        return pairs
    return [(name, value.replace(context, other)) for name, value in pairs]


def trace_id(head: RequestHead) -> bytes | None:
    """Return the trace id of a request; ``None`` if it has no valid one."""
    value = head.fields.get(b"traceparent")
    return None if value is None else _trace(value)


def _trace(value: bytes) -> bytes | None:
    found = _TRACE.fullmatch(value)
    if found is None:
        return None
    trace = found["first"] or found["later"]
    return None if trace == _NO_TRACE else trace


def without_context(pairs: Pairs) -> Pairs:
    """Remove all contexts from the baggage and cookies in header lines.

    A line without other parts is removed. ``traceparent`` is kept: it is the application's.

    :returns: the same list, if there is nothing to remove.
    """
    # A plain loop for speed: it runs for each request, and most have no context.
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
    """Add a context to header lines, as the first member of their baggage.

    A receiver with a limit of length drops members at the end.
    """
    member = b"%s=%s" % (_MEMBER, context)
    pairs = without_context(pairs)
    for at, (name, value) in enumerate(pairs):
        if name.lower() == b"baggage":
            return [*pairs[:at], (name, b"%s,%s" % (member, value)), *pairs[at + 1 :]]
    return [*pairs, (b"baggage", member)]


def _first(header: bytes, lines: list[bytes]) -> bytes | None:
    """Find the first context in the lines of a header, within :data:`LONGEST_LIST` bytes."""
    separator, ours = _SEPARATORS[header]
    left = LONGEST_LIST
    for line in lines:
        looked_at = line
        if len(line) > left:
            # The last part may be cut, and the rest of an id would be another id.
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
    """Add a context to header lines: to their baggage, and as a trace if they have none.

    :param context: 32 hexadecimal digits, so that it can be a trace id.
    :param span: 16 hexadecimal digits.
    """
    pairs = with_context(pairs, context)
    if any(name.lower() == b"traceparent" for name, _ in pairs):
        return pairs
    return [*pairs, (b"traceparent", b"00-%s-%s-01" % (context, span))]
