"""What a worker gets for the report of a failing test."""

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.playbook import performed
from trafficmock import records
from trafficmock.core.effects import Diagnose
from trafficmock.history.store import History
from trafficmock.server.diagnosis.similar_request_search import MOST_MATCHERS
from trafficmock.server.diagnosis.traffic_of_test import diagnosis_steps
from trafficmock.wire.inbound import DiagnosisQuery
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.unmet_routes import UnmetRoute


def unmet(glob: str, number: int = 1, *, own_process: bool = False) -> UnmetRoute:
    return UnmetRoute(
        SerializedMatcher(url_glob=glob),
        route_id=f"q{number}",
        text=f"no request met the route {glob!r}",
        own_process=own_process,
    )


class TrafficTests(SynchronousTestCase):
    """A history, and questions about it; most rules are in ``tests.testing.session``."""

    def setUp(self) -> None:
        self.history = History()
        self.came = 0

    def comes(self, url: str) -> None:
        self.came += 1
        request = SerializedRequest(url, "GET", {}, body.NULL)
        for record in (
            records.RequestSeen(f"r{self.came}", "shop", request),
            records.RequestPassedThrough(f"r{self.came}"),
        ):
            self.history.record(record, 1000 + self.came)

    def ask(self, *routes: UnmetRoute, only_unmet: bool = False) -> str:
        query = DiagnosisQuery("d", "t", list(routes), {}, {}, UNSET, only_unmet)
        *steps, answer = diagnosis_steps(self.history, Diagnose("w", query, [], frozenset()))
        self.assertEqual(set(steps), {None} if steps else set())
        assert answer is not None
        text: str = performed(answer).text
        return text

    def test_all_met(self) -> None:
        """Nothing is said of unmet routes where there are none."""
        self.assertEqual(self.ask(only_unmet=True), "")

    def test_nothing_came(self) -> None:
        """Where nothing came, the error of a required route says who is connected, too."""
        text = self.ask(unmet("http://h.test/a"), only_unmet=True)
        self.assertIn("'http://h.test/a'\nNo request of any application came since", text)
        self.assertIn("No application is connected to the proxy.", text)

    def test_own_process(self) -> None:
        """Of a server of the tests' process nothing can come, whoever is connected."""
        own = unmet("http://127.0.0.1:1/a", own_process=True)
        self.assertEqual(self.ask(own, only_unmet=True), own.text)

    def test_nearest(self) -> None:
        """The request that one part keeps from a route is named below it."""
        self.comes("http://h.test/b")
        self.comes("http://other.test/c/d")
        self.assertEqual(
            self.ask(unmet("http://h.test/a"), only_unmet=True),
            "no request met the route 'http://h.test/a'\n"
            "  GET http://h.test/b (client shop): path differs ('/b', not '/a')",
        )

    def test_unix_sockets(self) -> None:
        """Who has a route for a request to a UNIX socket reads who is seen."""
        hint = "Requests to UNIX sockets are seen in Node applications alone"
        for glob, wanted in (("http+unix://%2Fd.sock/info", True), ("http://h.test/a", False)):
            for only_unmet in (False, True):
                self.assertEqual(hint in self.ask(unmet(glob), only_unmet=only_unmet), wanted)

    def test_many(self) -> None:
        """Further routes are counted."""
        self.comes("http://h.test/")
        routes = [unmet("http://h.test/a", number) for number in range(MOST_MATCHERS + 3)]
        self.assertTrue(self.ask(*routes, only_unmet=True).endswith("\nand 3 more routes"))

    def test_secrets(self) -> None:
        """Two requests that differ in a secret are two, and no text has it."""
        for secret in ("one-4711", "two-4711", "two-4711"):
            self.comes(f"http://h.test/?token={secret}")
        text = self.ask(unmet("http://h.test/a?token=three-4711"))
        self.assertIn("real network: 3\n", text)
        self.assertEqual(text.count("no response, client shop"), 2)
        self.assertIn(" (2 times)", text)
        self.assertNotIn("4711", text)
