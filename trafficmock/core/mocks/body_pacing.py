"""Pacing: in which pieces the body of a fixed answer is sent, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from trafficmock.wire.inbound import MAX_STREAM_PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHORTEST_PAUSE_MS = 50
"""The milliseconds between two pieces of a body sent at a rate, unless one byte takes longer."""


@frozen(eq=False)
class Pacing:
    """The pieces of one body; they are read once, as they are sent.

    :param pieces: the milliseconds before each piece, and its bytes.
    :param duration_ms: the milliseconds from the first piece to the last.
    """

    pieces: Iterator[tuple[int, int]] = field(repr=False)
    duration_ms: int

    def parts(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the parts in which a body is sent, each with the milliseconds before it."""
        start = 0
        for pause, size in self.pieces:
            end, before = start + size, pause
            while start < end:
                following = min(start + MAX_STREAM_PIECE_BYTES, end)
                yield before, content[start:following]
                start, before = following, 0


def in_pieces(sizes: Sequence[int], between: int) -> Pacing:
    """Return the pacing of pieces with the same time between two."""
    pieces = ((between if number else 0, size) for number, size in enumerate(sizes))
    return Pacing(pieces, between * (len(sizes) - 1))


def as_recorded(pieces: Sequence[tuple[int, int]], size: int) -> Pacing:
    """Return the pacing of a body that came in pieces when it was recorded.

    :param pieces: the milliseconds before each piece, and its bytes. The last one has what is
        left of a body that is longer than they are.
    :param size: the bytes of the body.
    """
    return Pacing(_fitted(pieces, size), sum(pause for pause, _ in pieces))


def _fitted(pieces: Sequence[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    for number, (pause, given) in enumerate(pieces, 1):
        part = size if number == len(pieces) else min(given, size)
        size -= part
        yield pause, part


def at_rate(size: int, rate: int) -> Pacing:
    """Return the pacing of a body that is sent at a rate.

    :param size: the bytes of the body.
    :param rate: the bytes in a second.
    """
    between = max(SHORTEST_PAUSE_MS, -(-1000 // rate))
    piece = max(1, rate * between // 1000)
    starts = range(0, size, piece)
    pieces = ((between if start else 0, min(piece, size - start)) for start in starts)
    return Pacing(pieces, between * max(len(starts) - 1, 0))
