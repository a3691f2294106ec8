"""What the log says of connections and decisions."""

from typing import Any

from twisted.logger import ILogObserver, formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.server.fakes import DriverHarness
from trafficmock.server.event_log import EventLog

_OF_THE_DAY = ("trafficmock.server.event_log.EventLog", "trafficmock.server.driver.Driver")


@implementer(ILogObserver)
class Lines:
    """Keeps the event_log's lines, with their levels."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def __call__(self, event: dict[str, Any]) -> None:
        if event["log_namespace"] in _OF_THE_DAY:
            self.lines.append((event["log_level"].name, formatEvent(event)))


class EventLogTests(SynchronousTestCase):
    """Lines by level."""

    def setUp(self) -> None:
        observer = Lines()
        self.lines = observer.lines
        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)
        self.harness = DriverHarness()

    def test_coming_and_going(self) -> None:
        """Who connects, from where, and who leaves, is said; strangers are not."""
        self.harness.driver.link_closed(self.harness.connect())
        agent = self.harness.agent()
        self.harness.driver.link_closed(agent)
        self.assertEqual(
            self.lines,
            [
                ("info", "shop connected from 127.0.0.1:1 as test-2"),
                ("info", "test-2 disconnected"),
            ],
        )

    def test_no_forged_lines(self) -> None:
        """No name, URL or title makes a line of its own, in detail neither."""
        self.harness.driver.event_log.debug = True
        name, url = "a\nforged", "http://api.test/\nforged"
        agent = self.harness.agent()
        self.harness.send_message(
            agent, "ws:connection", socketId=name, url=url, protocols=[], clientId="shop"
        )
        self.harness.request(agent, name, url)
        self.harness.driver.link_closed(agent)
        self.assertGreater(len(self.lines), 5)
        for _, line in self.lines:
            self.assertTrue(line.isprintable(), line)

    def test_failures(self) -> None:
        """What could not be decided is a warning; that a client left is not."""
        agent = self.harness.agent()
        worker = self.harness.worker_with_route("http://api.test/*")
        self.lines.clear()
        self.harness.request(agent, "1", "http://api.test/a")
        bad = {"status": 100, "statusText": "", "headers": {}, "bodyBase64": None}
        result = {"action": "fulfill", "response": bad}
        self.harness.send_message(worker, "handler:result", requestId="1", result=result)
        self.harness.request(agent, "2", "http://api.test/b")
        self.harness.driver.link_closed(worker)
        levels = [(level, line.partition(":")[0]) for level, line in self.lines]
        self.assertIn(("warn", "handler_failed"), levels)
        self.assertEqual(levels.count(("info", "disconnected")), 1)

    def test_agent_lost(self) -> None:
        """However much an application leaves open, it is one line, with a count."""
        agent = self.harness.agent()
        self.harness.worker_with_route("http://api.test/*")
        self.lines.clear()
        for number in range(1000):
            self.harness.request(agent, str(number), "http://api.test/a")
        self.harness.driver.link_closed(agent)
        while self.harness.driver.coordinator.state.lost_agents:
            self.harness.clock.advance(0.1)
        self.assertEqual([level for level, _ in self.lines], ["info", "info"])
        self.assertIn(
            "'shop' disconnected; requests and WebSockets unsettled: 1000", self.lines[1][1]
        )

    def test_detail(self) -> None:
        """With debug on each request and what became of it is said."""
        self.harness.driver.event_log = EventLog(debug=True)
        agent = self.harness.agent()
        self.harness.request(agent, "1", "http://api.test/a")
        self.assertEqual(
            self.lines[1:],
            [("debug", "1 GET http://api.test/a of shop"), ("debug", "1 RequestPassedThrough")],
        )

    def test_no_detail(self) -> None:
        """Without debug a decision costs no line."""
        agent = self.harness.agent()
        self.harness.request(agent, "1", "http://api.test/a")
        self.assertEqual(len(self.lines), 1)
