"""What the log says of connections and decisions."""

from typing import Any

from twisted.logger import ILogObserver, formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.server.fakes import DriverHarness
from trafficmock.server.event_log import EventLog


@implementer(ILogObserver)
class Lines:
    """Keeps the event_log's lines, with their levels."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def __call__(self, event: dict[str, Any]) -> None:
        if event["log_namespace"] == "trafficmock.server.event_log.EventLog":
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
        """What could not be decided is a warning; that somebody left is none."""
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
        self.assertIn(("info", "disconnected"), levels)

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
