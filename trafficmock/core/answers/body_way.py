"""What happens to the body of an answer on its way to the application.

A mock comes in parts (``pieces``, ``rate``), which the coordinator sends one by one. A fault breaks
an answer, and a rate slows a real one: that the agent does, as :class:`.BodyWay` says. A fault that
lies behind the end of a body does not happen, whether the body is a mock's or a server's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET, UnsetType, structs

from trafficmock.wire.features import FAULTS
from trafficmock.wire.http_syntax import BODILESS_STATUSES
from trafficmock.wire.inbound import MAX_STREAM_PIECE_BYTES
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import AbortCode, BodyWay, Fault, Fulfill, Piece
from trafficmock.wire.payloads.serialized_response import SerializedResponse

SHORTEST_PAUSE_MS = 50
"""The milliseconds between two slices of a body sent at a rate, unless one byte takes longer."""


def way_back(fault: Fault | UnsetType, rate: int | UnsetType) -> BodyWay | UnsetType:
    """Return the way of a real answer.

    Its length is not known: ``truncated`` without ``after`` comes after half of it.

    :param fault: how it breaks, if it does.
    :param rate: the bytes in a second, without a fault.
    """
    if fault:
        replaces_answer = fault.kind in {"connection_reset", "empty_response"}
        after = fault.after
        if after is UNSET and fault.kind != "truncated" and not replaces_answer:
            after = 0
        return BodyWay(then=fault.kind, after=after)
    if rate:
        size, pause = _slice_and_pause(rate)
        return BodyWay(slice=size, pause=pause)
    return UNSET


def breaking(fault: Fault, response: SerializedResponse, method: str) -> BodyWay | None:
    """Return the way of a mock that breaks.

    By default, half of the body comes before it is truncated, and nothing before other faults.

    :returns: ``None`` if the fault lies behind the end of the body.
    """
    size = body.size(response.body_base64)
    default = size // 2 if fault.kind == "truncated" else 0
    after = default if fault.after is UNSET else min(fault.after, size)
    if fault.kind == "empty_response":
        return BodyWay(then=fault.kind, after=after)
    if method == "HEAD" or response.status in BODILESS_STATUSES:
        return None
    in_place_of_body = fault.kind == "malformed_chunk" or (size == 0 and fault.after is UNSET)
    return BodyWay(then=fault.kind, after=after) if after < size or in_place_of_body else None


def code_in_place_of(fault: Fault, features: frozenset[str]) -> AbortCode | None:
    """Return the abort code that stands for a fault of a mock.

    :param features: of the agent; one without ``faults`` fails the request before the answer.
    :returns: ``None`` if the agent breaks the answer by itself.
    """
    if fault.kind == "connection_reset" and fault.after is UNSET:
        return "connectionreset"
    return None if FAULTS in features else code_like(fault)


def code_like(fault: Fault) -> AbortCode:
    """Return the abort code that is most like a fault."""
    return "timedout" if fault.kind == "stall" else "connectionreset"


def broken_response(way: BodyWay, response: SerializedResponse) -> SerializedResponse:
    """Return what is recorded of a mock that breaks: the part of its body before the fault."""
    content = body.to_bytes(response.body_base64)
    after = 0 if way.then == "empty_response" else way.after or 0
    return structs.replace(
        response,
        body_base64=body.from_bytes(content[:after]),
        truncated=True,
        body_size=len(content),
    )


def fault_in_words(way: BodyWay) -> str:
    """Return what happened, for the history."""
    return f"the fault {way.then} of the test, after {way.after} bytes of the body"


FAULT_UNREACHED = "fault_unreached"
"""The kind of the event that says that a fault did not happen."""


def unreached(fault: Fault) -> str:
    """Return what did not happen, for the history."""
    after = f", after {fault.after} bytes," if fault.after else ""
    return f"the fault {fault.kind} of the test{after} lies behind the end of the body"


# Mocks in parts


def parts_of(answer: Fulfill) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of the body of a mock with pieces or a rate, each with the ms before it.

    A part has :data:`MAX_STREAM_PIECE_BYTES` at most.
    """
    content = body.to_bytes(answer.response.body_base64)
    start = 0
    for pause, size in _pieces(answer, len(content)):
        end, before = start + size, pause
        while start < end:
            following = min(start + MAX_STREAM_PIECE_BYTES, end)
            yield before, content[start:following]
            start, before = following, 0


def duration_ms(answer: Fulfill) -> int:
    """Return the milliseconds from the first part of a mock to its last."""
    if answer.pieces or not answer.rate:
        return sum(pause for pause, _ in answer.pieces or ())
    each, pause = _slice_and_pause(answer.rate)
    # A large body may have millions of slices.
    return pause * max(-(-body.size(answer.response.body_base64) // each) - 1, 0)


def _pieces(answer: Fulfill, size: int) -> Iterable[Piece]:
    if answer.pieces or not answer.rate:
        return answer.pieces or ()
    each, pause = _slice_and_pause(answer.rate)
    starts = range(0, size, each)
    return ((pause if start else 0, min(each, size - start)) for start in starts)


def _slice_and_pause(rate: int) -> tuple[int, int]:
    """Return the bytes that are sent at once at a rate, and the milliseconds after them."""
    pause = max(SHORTEST_PAUSE_MS, -(-1000 // rate))
    return max(1, rate * pause // 1000), pause


def fitted(pieces: Sequence[Piece], size: int) -> Iterator[Piece]:
    """Yield pieces of a body that was recorded in pieces, for a body of another length.

    The last one has what is left of a body that is longer than they are.
    """
    for number, (pause, given) in enumerate(pieces, 1):
        part = size if number == len(pieces) else min(given, size)
        size -= part
        yield pause, part
