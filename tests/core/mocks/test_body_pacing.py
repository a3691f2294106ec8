"""The pieces of a body, and when they are sent."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.core.mocks.body_pacing import SHORTEST_PAUSE_MS, as_recorded, at_rate, in_pieces
from trafficmock.wire.inbound import MAX_STREAM_PIECE_BYTES

PAUSE = 100


class PiecesTests(SynchronousTestCase):
    """The pieces that the test gives."""

    def test_times(self) -> None:
        """The first is sent at once, each other one after the time between two."""
        pacing = in_pieces([3, 2, 1], PAUSE)
        self.assertEqual(pacing.duration_ms, 2 * PAUSE)
        self.assertEqual(
            list(pacing.parts(b"abcdef")), [(0, b"abc"), (PAUSE, b"de"), (PAUSE, b"f")]
        )

    def test_large(self) -> None:
        """A piece above the limit of a message is sent in parts, at once."""
        pacing = in_pieces([1, MAX_STREAM_PIECE_BYTES + 1], PAUSE)
        sent = [
            (pause, len(part)) for pause, part in pacing.parts(bytes(MAX_STREAM_PIECE_BYTES + 2))
        ]
        self.assertEqual(sent, [(0, 1), (PAUSE, MAX_STREAM_PIECE_BYTES), (0, 1)])


class RateTests(SynchronousTestCase):
    """A body at a rate."""

    def test_pieces(self) -> None:
        """It comes in pieces of 50 ms; one byte may take longer than that."""
        self.assertEqual(list(at_rate(25, 200).pieces), [(0, 10), (SHORTEST_PAUSE_MS, 10), (50, 5)])
        self.assertEqual(list(at_rate(2, 3).pieces), [(0, 1), (334, 1)])
        self.assertEqual(list(at_rate(0, 3).pieces), [])
        self.assertEqual(at_rate(0, 3).duration_ms, 0)

    def test_slow(self) -> None:
        """A large body at a small rate is cut as it is sent."""
        size = 10**9
        pacing = at_rate(size, 1)
        self.assertEqual(pacing.duration_ms, (size - 1) * 1000)
        self.assertEqual(list(islice(pacing.pieces, 2)), [(0, 1), (1000, 1)])

    @given(st.binary(max_size=400), st.integers(1, 10_000))
    def test_whole(self, content: bytes, rate: int) -> None:
        """The parts are the body, and their pauses take as long as is said."""
        pacing = at_rate(len(content), rate)
        parts = list(pacing.parts(content))
        self.assertEqual(b"".join(part for _, part in parts), content)
        self.assertEqual(sum(pause for pause, _ in parts), pacing.duration_ms)


class RecordedTests(SynchronousTestCase):
    """A body as it was recorded."""

    def test_pieces(self) -> None:
        """Each piece has its pause, also the first."""
        pacing = as_recorded([(30, 2), (PAUSE, 4)], 6)
        self.assertEqual(list(pacing.parts(b"abcdef")), [(30, b"ab"), (PAUSE, b"cdef")])
        self.assertEqual(pacing.duration_ms, 30 + PAUSE)

    @given(
        st.binary(max_size=60),
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), min_size=1),
    )
    def test_another_body(self, content: bytes, pieces: list[tuple[int, int]]) -> None:
        """A body that was changed since is sent whole."""
        parts = as_recorded(pieces, len(content)).parts(content)
        self.assertEqual(b"".join(part for _, part in parts), content)
