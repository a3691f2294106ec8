"""Time as the driver keeps it: the clock of the core, and who is alive."""

from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness
from trafficmock.core.settings import Settings

URL = "http://api.test/users"


class TimeTests(SynchronousTestCase):
    """The driver wakes the core when it asked for it."""

    def setUp(self) -> None:
        self.harness = DriverHarness(settings=Settings(version="1", claim_timeout=4.0))

    def test_claim_timeout(self) -> None:
        """An owner that stays silent is pinged, and given up when the time is over."""
        agent = self.harness.agent()
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.clock.advance(0.001)
        self.harness.request(agent, "1", URL)
        worker.took("request:observed", "request:matched")
        self.harness.clock.advance(2.01)
        worker.took("ping")
        self.harness.clock.advance(2.01)
        (decision,) = agent.took("decision:error")
        self.assertEqual(decision["code"], "claim_timeout")

    def test_stopped_owner(self) -> None:
        """The kernel takes what is sent to a stopped process: that is no sign of its life."""
        agent = self.harness.agent()
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.clock.advance(0.001)
        self.harness.request(agent, "1", URL)
        for _ in range(50):
            worker.queued_bytes = 10
            worker.drained_total += 10
            self.harness.clock.advance(0.1)
        (decision,) = agent.took("decision:error")
        self.assertEqual(decision["code"], "claim_timeout")

    def test_owner_sends_a_large_answer(self) -> None:
        """An owner whose message is still arriving is not silent; one that stops sending is."""
        agent = self.harness.agent()
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.clock.advance(0.001)
        self.harness.request(agent, "1", URL)
        for _ in range(60):
            worker.arriving_bytes += 1000
            self.harness.clock.advance(0.1)
        self.assertEqual(agent.took(), [])
        self.harness.clock.pump([0.1] * 50)
        (decision,) = agent.took("decision:error")
        self.assertEqual(decision["code"], "claim_timeout")

    def test_owner_drips(self) -> None:
        """An owner that sends a byte of a message now and then is given up in time."""
        agent = self.harness.agent()
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.clock.advance(0.001)
        self.harness.request(agent, "1", URL)
        for _ in range(50):
            worker.arriving_bytes += 1
            self.harness.clock.advance(0.1)
        (decision,) = agent.took("decision:error")
        self.assertEqual(decision["code"], "claim_timeout")

    def test_one_timer(self) -> None:
        """All deadlines share one timer."""
        for _ in range(5):
            self.harness.agent()
        self.assertEqual(len(self.harness.clock.getDelayedCalls()), 1)

    def test_idle(self) -> None:
        """A silent connection is cut; one that lags and takes what was queued for it is not."""
        dead, slow = self.harness.agent(), self.harness.agent()
        self.harness.driver.link_backlogged(slow)
        for _ in range(80):
            slow.drained_total += 1
            self.harness.clock.advance(1)
        self.assertTrue(dead.aborted)
        self.assertFalse(slow.aborted)

    def test_stop(self) -> None:
        """At the end whoever waits is answered, all links are closed and no timer is left."""
        agent = self.harness.agent()
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.request(agent, "1", URL)
        self.harness.driver.stop()
        (decision,) = agent.took("decision:error")
        self.assertIn("stopped", decision["message"])
        self.assertEqual(
            [link.closed for link in (agent, worker)], [(1001, "The proxy stops.")] * 2
        )
        self.assertEqual(self.harness.clock.getDelayedCalls(), [])
        self.assertEqual(self.harness.driver.open_links(), 2)
