"""What the process of the tests sends to its own machine is answered only by a route that names it.

A replay of all URLs took the test's own call to its application, and the test passed without one.
"""

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import open_socket, predicate, start
from tests.support.playbook import SETTINGS, Peer, Playbook
from trafficmock.core.effects import Send
from trafficmock.matching.host_pattern import HostPattern
from trafficmock.wire import outbound
from trafficmock.wire.local_reports import RunsTests
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher, SerializedRegex

OWN = "http://127.0.0.1:5655/api/orders?page=1"
ANY: tuple[str | SerializedMatcher, ...] = (
    "**",
    "**/*",
    "**/orders?page=1",
    "http://**/api/**",
    "http://*/api/**",
    "http://*:*/**",
    SerializedMatcher(),
    SerializedMatcher(methods=["GET"], client_ids=["pytest"]),
    SerializedMatcher(url_regex=SerializedRegex("/orders", "")),
    SerializedMatcher(url_regex=SerializedRegex("^https?:\\/\\/[^/]+/api", "")),
    predicate(),
    SerializedMatcher(url_glob="**/orders*", predicate=True),
)
"""Patterns that match it as they match the same URL of any other origin."""

NAMED: tuple[str | SerializedMatcher, ...] = (
    OWN,
    "http://127.0.0.1:5655/**",
    "http://127.0.0.1:*/**",
    "http://127.*/**",
    "http://*:5655/**",
    "**/127.0.0.1:5655/**",
    SerializedMatcher(url_regex=SerializedRegex("127\\.0\\.0\\.1", "")),
    SerializedMatcher(url_regex=SerializedRegex(":5655/api", "")),
)


class OwnCallTests(SynchronousTestCase):
    """The agent of the process of the tests, and one of an application."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.own = self.testing()
        self.other = self.playbook.agent("app")
        self.test = self.playbook.worker().test("buys")

    def testing(self) -> Peer:
        """Bring in the agent of the process of the tests."""
        own = self.playbook.agent("pytest")
        own.sends(RunsTests(running=True))
        return own

    def matched(self, agent: Peer, url: str, number: int) -> bool:
        """Send a request; return whether a route gets it, or might."""
        request_id = f"r{number}"
        client_id = agent.id.removeprefix("agent ")
        agent.sends(start(request_id, url=url, client_id=client_id))
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        passed = outbound.DecisionPassthrough(request_id)
        return passed not in sent

    def test_any(self) -> None:
        """A pattern that does not name its origin leaves it alone, whatever the pattern is."""
        for matcher in ANY:
            self.test.route(matcher)
        self.playbook.take()
        self.assertFalse(self.matched(self.own, OWN, 1))
        for number, host in enumerate(("[::1]", "shop.localhost:1", "shop", "localhost")):
            self.assertFalse(
                self.matched(self.own, f"http://{host}/api/orders?page=1", 10 + number)
            )

    def test_named(self) -> None:
        """A pattern that does, takes it."""
        for number, matcher in enumerate(NAMED):
            self.playbook = Playbook(self)
            own, test = self.testing(), self.playbook.worker().test("buys")
            test.route(matcher)
            self.playbook.take()
            self.assertTrue(self.matched(own, OWN, number), matcher)

    def test_others(self) -> None:
        """Any pattern takes calls of third parties, and what an application sends to loopback."""
        self.test.route("**")
        self.playbook.take()
        self.assertTrue(self.matched(self.own, "http://prices.example/v1", 1))
        self.assertTrue(self.matched(self.other, OWN, 2))

    def test_unix_socket(self) -> None:
        """What it sends to a UNIX socket is answered by a route that names any."""
        self.test.route("http+unix://**/info")
        self.playbook.take()
        self.assertTrue(self.matched(self.own, "http+unix://%2Frun%2Fdocker/info", 1))
        self.assertFalse(self.matched(self.own, "http+unix://%2Frun%2Fdocker/other", 2))

    def test_own_host(self) -> None:
        """Further hosts of the system under test are its application's, too."""
        pattern = HostPattern("*.corp.example")
        self.playbook = Playbook(self, evolve(SETTINGS, own_hosts=(pattern,)))
        own = self.testing()
        self.playbook.worker().test("buys").route("**")
        self.playbook.take()
        self.assertFalse(self.matched(own, "http://shop.corp.example/", 1))
        self.assertTrue(self.matched(own, "http://shop.example/", 2))

    def test_socket(self) -> None:
        """So it is with a WebSocket."""
        self.test.route("**", kind="websocket")
        self.playbook.take()
        self.own.sends(open_socket("s1", url="ws://127.0.0.1:5655/live"))
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        self.assertEqual([type(each) for each in sent], [outbound.SocketPassthrough])
