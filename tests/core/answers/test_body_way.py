"""The parts of a body, and when they are sent."""

from __future__ import annotations

from itertools import islice
from typing import cast
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import response
from trafficmock.core.answers import body_way
from trafficmock.core.answers.body_way import (
    SHORTEST_PAUSE_MS,
    duration_ms,
    fitted,
    parts_of,
    way_back,
)
from trafficmock.wire.inbound import MAX_STREAM_PIECE_BYTES
from trafficmock.wire.payloads.answer import BodyWay, Fulfill

PAUSE = 100


def at_rate(content: bytes, rate: int) -> Fulfill:
    return Fulfill(response(content=content), rate=rate)


class PiecesTests(SynchronousTestCase):
    """The pieces that the test gives."""

    def test_times(self) -> None:
        """Each one is sent after its pause."""
        pieces = [(30, 3), (PAUSE, 2), (PAUSE, 1)]
        answer = Fulfill(response(content=b"abcdef"), pieces=pieces)
        self.assertEqual(duration_ms(answer), 30 + 2 * PAUSE)
        self.assertEqual([*parts_of(answer)], [(30, b"abc"), (PAUSE, b"de"), (PAUSE, b"f")])

    def test_large(self) -> None:
        """A piece above the limit of a message is sent in parts, at once."""
        pieces = [(0, 1), (PAUSE, MAX_STREAM_PIECE_BYTES + 1)]
        answer = Fulfill(response(content=bytes(MAX_STREAM_PIECE_BYTES + 2)), pieces=pieces)
        sent = [(pause, len(part)) for pause, part in parts_of(answer)]
        self.assertEqual(sent, [(0, 1), (PAUSE, MAX_STREAM_PIECE_BYTES), (0, 1)])

    @given(
        st.integers(0, 60), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), min_size=1)
    )
    def test_another_body(self, size: int, pieces: list[tuple[int, int]]) -> None:
        """A recorded body that was changed since is sent whole."""
        self.assertEqual(sum(part for _, part in fitted(pieces, size)), size)


class RateTests(SynchronousTestCase):
    """A body at a rate."""

    def test_slices(self) -> None:
        """It comes in slices of 50 ms; one byte may take longer than that."""
        sent = [(pause, len(part)) for pause, part in parts_of(at_rate(bytes(25), 200))]
        self.assertEqual(sent, [(0, 10), (SHORTEST_PAUSE_MS, 10), (50, 5)])
        self.assertEqual([*parts_of(at_rate(b"ab", 3))], [(0, b"a"), (334, b"b")])
        self.assertEqual([*parts_of(at_rate(b"", 3))], [])
        self.assertEqual(duration_ms(at_rate(b"", 3)), 0)

    def test_real_answer(self) -> None:
        """A real answer comes in the same slices."""
        for rate, expected in ((200, (10, 50)), (3, (1, 334)), (5, (1, 200))):
            way = cast("BodyWay", way_back(UNSET, rate))
            self.assertEqual((way.slice, way.pause), expected)

    def test_slow(self) -> None:
        """A large body at a small rate is cut as it is sent, and its slices are not counted."""
        answer = at_rate(bytes(10**6), 1)
        with patch.object(body_way, "_pieces", side_effect=AssertionError):
            self.assertEqual(duration_ms(answer), (10**6 - 1) * 1000)
        self.assertEqual([*islice(parts_of(answer), 2)], [(0, b"\0"), (1000, b"\0")])

    @given(st.binary(max_size=400), st.integers(1, 10_000))
    def test_whole(self, content: bytes, rate: int) -> None:
        """The parts are the body, and their pauses take as long as is said."""
        answer = at_rate(content, rate)
        parts = [*parts_of(answer)]
        self.assertEqual(b"".join(part for _, part in parts), content)
        self.assertEqual(sum(pause for pause, _ in parts), duration_ms(answer))
