"""How long a client may be silent."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.downstream.idle_timer import IdleTimer


class IdleTimerTests(SynchronousTestCase):
    """A timer that begins anew."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.expired: list[float] = []
        self.timer = IdleTimer(self.clock, 60, lambda: self.expired.append(self.clock.seconds()))

    def test_anew(self) -> None:
        """Starting again gives the whole time again, and forgets what came before."""
        self.timer.start()
        self.timer.heard = True
        self.clock.advance(59)
        self.timer.start()
        self.assertFalse(self.timer.heard)
        self.clock.advance(59)
        self.assertEqual(self.expired, [])
        self.clock.advance(1)
        self.assertEqual(self.expired, [119])

    def test_stopped(self) -> None:
        """Once stopped it leaves no timer, and may be stopped again."""
        self.timer.start()
        self.timer.stop()
        self.timer.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])
