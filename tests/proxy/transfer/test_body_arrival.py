"""When the pieces of a body came."""

from __future__ import annotations

from msgspec import UNSET
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.transfer.body_arrival import BodyArrival
from trafficmock.wire.payloads.serialized_response import MOST_ARRIVALS


class BodyArrivalTests(SynchronousTestCase):
    """The times and sizes that are told."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.arrival = BodyArrival(self.clock)

    def comes(self, after: float, data: bytes) -> None:
        self.clock.advance(after)
        self.arrival.add(data)

    def test_pieces(self) -> None:
        """The times are those since the head; what comes at once is one piece."""
        self.comes(0.1, b"one")
        self.comes(0.001, b"two")
        self.comes(0.2, b"three")
        self.assertEqual(self.arrival.recorded(), [(100, 6), (301, 5)])

    def test_at_once(self) -> None:
        """Nothing is told of a body that comes at once, or not at all."""
        self.assertIs(self.arrival.recorded(), UNSET)
        self.comes(0.1, b"one")
        self.assertIs(self.arrival.recorded(), UNSET)

    def test_bounded(self) -> None:
        """Beyond the limit, what comes belongs to the last piece."""
        for _ in range(MOST_ARRIVALS + 2):
            self.comes(1, b"x")
        told = self.arrival.recorded()
        assert told is not UNSET
        self.assertEqual((len(told), told[-1]), (MOST_ARRIVALS, (MOST_ARRIVALS * 1000, 3)))
