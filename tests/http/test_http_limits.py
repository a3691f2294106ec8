"""The count of open connections, and limits by name."""

from collections.abc import Callable

from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.http_limits import QUIET_SECONDS, ConnectionCount, HttpLimits


class ConnectionCountTests(SynchronousTestCase):
    """Letting in and refusing."""

    def full(self, seconds: Callable[[], float]) -> ConnectionCount:
        count = ConnectionCount(2, seconds)
        self.assertTrue(count.enter())
        self.assertTrue(count.enter())
        return count

    def test_limit(self) -> None:
        """At the limit a connection is refused; when one ends, the next is let in."""
        count = self.full(Clock().seconds)
        self.assertFalse(count.enter())
        self.assertEqual(count.open, 2)
        count.leave()
        self.assertTrue(count.enter())

    def test_log(self) -> None:
        """Refusals are logged at once and then rarely, with how many there were and the option."""
        clock = Clock()
        clock.advance(1)
        count = self.full(clock.seconds)
        with capturedLogs() as events:
            for _ in range(5):
                count.enter()
            clock.advance(QUIET_SECONDS)
            count.enter()
        self.assertEqual([event["refused"] for event in events], [1, 5])
        self.assertIn("--max-connections", events[0]["log_format"])

    def test_none(self) -> None:
        """0 is no limit."""
        limits = HttpLimits(max_header_bytes=0, max_connections=0)
        self.assertGreater(limits.max_header_bytes, 2**40)
        self.assertGreater(limits.max_connections, 2**40)
