"""Clients that have closed their direction."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.downstream.half_close import GONE_SECONDS, HalfCloseWatch


class WatchTests(SynchronousTestCase):
    """Gone, or only silent."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.gone: list[float] = []
        self.watch = HalfCloseWatch(self.clock, lambda: self.gone.append(self.clock.seconds()))

    def test_gone(self) -> None:
        """Without a byte for it the client counts as gone."""
        self.watch.start()
        self.clock.advance(GONE_SECONDS)
        self.assertEqual(self.gone, [GONE_SECONDS])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_written(self) -> None:
        """Each write gives it the time once more."""
        self.watch.start()
        self.watch.written = True
        self.clock.advance(GONE_SECONDS)
        self.assertEqual(self.gone, [])
        self.clock.advance(GONE_SECONDS)
        self.assertEqual(self.gone, [2 * GONE_SECONDS])

    def test_stopped(self) -> None:
        """Once stopped it leaves no timer, and may be stopped again."""
        self.watch.start()
        self.watch.stop()
        self.watch.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])
