"""A sender of frames waits for their receiver, and nobody else does."""

from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness
from trafficmock.http.backpressure import HELD_BACK_SECONDS


class BackpressureTests(SynchronousTestCase):
    """Frames from an application to a worker that lags behind."""

    def setUp(self) -> None:
        self.harness = DriverHarness()
        self.agent = self.harness.agent()
        self.worker = self.harness.worker_with_route("ws://chat.test/", kind="websocket")
        socket = {"socketId": "s", "url": "ws://chat.test/", "protocols": [], "clientId": "shop"}
        self.harness.send_message(self.agent, "ws:connection", **socket)
        self.harness.send_message(
            self.worker, "ws:claim-result", socketId="s", testId="t", matches=[{"routeId": "r"}]
        )

    def frame(self) -> None:
        self.harness.send_message(
            self.agent, "ws:messageFromPage", socketId="s", data="x", isBase64=False
        )

    def test_sender_waits(self) -> None:
        """The sender is not read until the receiver has caught up."""
        self.frame()
        self.assertEqual(self.agent.pauses, 0)
        self.harness.driver.link_backlogged(self.worker)
        self.frame()
        self.frame()
        self.assertEqual(self.agent.pauses, 1)
        self.harness.driver.link_drained(self.worker)
        self.assertEqual(self.agent.pauses, 0)

    def test_receiver_gone(self) -> None:
        """Nobody waits for a receiver that is gone."""
        self.harness.driver.link_backlogged(self.worker)
        self.frame()
        self.harness.driver.link_closed(self.worker)
        self.assertEqual(self.agent.pauses, 0)

    def test_sender_gone(self) -> None:
        """A sender that is gone is not resumed."""
        self.harness.driver.link_backlogged(self.worker)
        self.frame()
        self.harness.driver.link_closed(self.agent)
        self.harness.driver.link_drained(self.worker)
        self.assertEqual(self.agent.pauses, 1)

    def test_requests_do_not_wait(self) -> None:
        """News of requests that a worker does not read hold no application back."""
        self.harness.driver.link_backlogged(self.worker)
        self.harness.request(self.agent, "1", "http://api.test/")
        self.assertEqual(self.agent.pauses, 0)

    def lag(self) -> None:
        """Let the sender wait for a receiver that lags behind."""
        self.harness.driver.link_backlogged(self.worker)
        self.frame()
        self.assertEqual(self.agent.pauses, 1)

    def test_receiver_takes_nothing(self) -> None:
        """A sender waits so long, and then no more until the receiver takes something."""
        self.lag()
        self.harness.clock.advance(HELD_BACK_SECONDS)
        self.assertEqual(self.agent.pauses, 0)
        self.frame()
        self.assertEqual(self.agent.pauses, 0)
        self.worker.drained_total += 1
        self.frame()
        self.assertEqual(self.agent.pauses, 1)
        self.harness.driver.link_drained(self.worker)
        self.assertEqual(self.agent.pauses, 0)

    def test_receiver_takes_little(self) -> None:
        """A sender waits for a receiver that takes something now and then."""
        self.lag()
        for _ in range(5):
            self.worker.drained_total += 1
            self.harness.clock.advance(HELD_BACK_SECONDS)
            self.assertEqual(self.agent.pauses, 1)

    def test_receiver_catches_up(self) -> None:
        """Looks of an earlier wait say nothing of the next, and end with their links."""
        self.lag()
        self.harness.clock.advance(HELD_BACK_SECONDS / 2)
        self.worker.drained_total += 1
        self.harness.driver.link_drained(self.worker)
        self.lag()
        self.harness.clock.advance(HELD_BACK_SECONDS / 2)
        self.assertEqual(self.agent.pauses, 1)
        self.harness.driver.link_closed(self.agent)
        self.harness.clock.advance(HELD_BACK_SECONDS)
        self.assertEqual(self.agent.pauses, 1)

    def test_waiting_is_not_idle(self) -> None:
        """A sender that we do not read from is not cut off for its silence."""
        self.harness.driver.link_backlogged(self.worker)
        self.frame()
        for _ in range(70):
            self.worker.queued_bytes, self.worker.drained_total = 1, self.worker.drained_total + 1
            self.harness.clock.advance(1)
        self.assertFalse(self.agent.aborted)

    def test_receiver_stuck(self) -> None:
        """A receiver that takes nothing at all is cut off in the end."""
        self.harness.driver.link_backlogged(self.worker)
        self.worker.queued_bytes = 1
        self.frame()
        for _ in range(90):
            self.harness.clock.advance(1)
        self.assertTrue(self.worker.aborted)
