"""Strict mode: what a session asks of the proxy, and how it reports refused requests."""

from typing import Any

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import SessionHarness, entry, failure, kept
from tests.testing.session.test_traffic_report import report
from trafficmock.testing.errors import UnmatchedRequestError, UsageError
from trafficmock.testing.objects.call_place import place_of_call
from trafficmock.testing.session.arguments.allow_patterns import allow_patterns
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.session import TestInfo
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import refused_request

STRICT = TestInfo(title="buys", file="f.py", strict=True, allow=("auth.example",))
PAY = "http://pay.test/charges"


def refused(number: int, url: str = PAY, **more: Any) -> outbound.ProxyError:
    """Make the error of one refused request."""
    detail = {"requestId": f"r{number}", "kind": "http", "method": "POST", "url": url, **more}
    return outbound.ProxyError("unmatched_request", f"POST {url} is not mocked", "t1", detail)


class AskingTests(SynchronousTestCase):
    """What is sent."""

    def test_from_the_beginning(self) -> None:
        """A strict test says so when it registers; another one says nothing."""
        self.assertEqual(
            SessionHarness(info=STRICT).registered.strict, inbound.Strict(["auth.example"])
        )
        self.assertIs(SessionHarness().registered.strict, UNSET)

    def test_exempt(self) -> None:
        """A test that is not strict is allowed everything where the service may be strict."""
        exempt = TestInfo(title="", file="", exempt=True, allow=("auth.example",))
        harness = SessionHarness(info=exempt)
        self.assertEqual(harness.registered.strict, inbound.Strict(["*"]))

    def test_later(self) -> None:
        """A test becomes strict at any time, and what it allows adds up."""
        harness = SessionHarness(info=TestInfo(title="", file="", allow=("auth.example",)))
        for more, expected in ((["b.test"], ["b.test"]), (["c.test"], ["b.test", "c.test"])):
            promise = harness.session.make_strict(more)
            (message,) = harness.take()
            self.assertEqual(message, inbound.TestStrict("t1", ["auth.example", *expected]))
            kept(promise)

    def test_patterns(self) -> None:
        """What is no list of hosts and URL globs is refused, with what is wrong."""
        for wrong in ("auth.example", 5, [5], [""], ["h.test:x"], ["/relative"], ["*/a"]):
            with self.assertRaises(UsageError) as caught:
                allow_patterns(wrong)  # type: ignore[arg-type] # that is the point
            self.assertNotIn("\n", str(caught.exception))
        self.assertEqual(allow_patterns(iter(["a.test", "**/b"])), ("a.test", "**/b"))

    def test_run(self) -> None:
        """A run becomes strict by a connection; the proxy may have something against it."""
        harness = SessionHarness(acknowledges=False)
        for error in (UNSET, "the pattern is wrong"):
            promise = harness.client.make_run_strict(["a.test"])
            (message,) = harness.take()
            assert isinstance(message, inbound.RunStrict)
            self.assertEqual(message.allow, ["a.test"])
            harness.client.receive(outbound.RunStricted(message.query_id, error))
            if error is UNSET:
                kept(promise)
            else:
                self.assertEqual(str(failure(promise)), error)

    def test_unowned(self) -> None:
        """What no test owns is asked for."""
        harness = SessionHarness()
        promise = harness.client.unmatched()
        (message,) = harness.take()
        assert isinstance(message, inbound.UnmatchedQuery)
        row = refused_request.UnmatchedRequest("GET", PAY, "shop", "http", 2, "why")
        harness.client.receive(outbound.Unmatched(message.query_id, [row], 0))
        self.assertEqual(kept(promise).requests, [row])

    def test_place(self) -> None:
        """A route says where the test states it."""
        place = place_of_call()
        self.assertRegex(place, r"^(tests/testing/session/)?test_strict\.py:\d+$")
        self.assertRegex(place_of_call("/nowhere"), r"^test_strict\.py:\d+$")
        harness = SessionHarness()
        harness.session.http.route(make_matcher("**"), lambda *_: None, place=place)
        (message,) = harness.take()
        assert isinstance(message, inbound.RouteRegister)
        self.assertEqual(message.place, place)


class RefusedTests(SynchronousTestCase):
    """What fails the test."""

    def test_once_for_each(self) -> None:
        """One error for each method and URL, with how often it came."""
        harness = SessionHarness(info=STRICT)
        for number in range(3):
            harness.receive(refused(number))
        harness.receive(refused(3, "http://other.test/", last=True))
        harness.receive(refused(4, last=True))
        finished = harness.session.finish()
        harness.acknowledge()
        first, second = kept(finished)
        assert isinstance(first, UnmatchedRequestError)
        self.assertEqual(first.request, ("http", "POST", PAY))
        last = "Further requests of this test were refused without an error of their own."
        self.assertEqual(first.__notes__, [last, "3 more requests met the same."])
        self.assertEqual(str(second), "POST http://other.test/ is not mocked")
        self.assertEqual(second.__notes__, [last])

    def test_in_the_report(self) -> None:
        """They are counted there, and those that no test owns are listed."""
        harness = SessionHarness(info=STRICT)
        harness.route(lambda *_: None, "http://h.test/charges")
        harness.receive(refused(2))
        code = {"code": "unmatched_request"}
        harness.entries = [
            entry(3, "charge", "error", outcome=code),
            entry(2, "charges", "error", outcome=code, testId="t1", hasContext=True),
            entry(1, "charges", "error", outcome=code, testId="t2", hasContext=True),
        ]
        text = report(harness)
        title = "refused by strict mode"
        self.assertIn(
            f"{title}, see the errors: 1\n{title}, without the context of a test: 1\n"
            "  GET http://h.test/charge, client shop\nno request met",
            text,
        )
        self.assertIn("http://h.test/charge (client shop): path differs", text)
        self.assertNotIn("network", text)
