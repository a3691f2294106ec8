"""Fixed answers: what the proxy gets, and what it says of them."""

from typing import Any

from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness, kept, request, response
from trafficmock.testing.errors import IsolationError, RoutingError, UsageError
from trafficmock.testing.objects.sent_options import sent_options
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.session import TestInfo
from trafficmock.wire import inbound, outbound

REQUIRED = TestInfo(title="buys", file="f.py", isolation="required")


class ReplyCase(SynchronousTestCase):
    """A session with the feature."""

    def setUp(self) -> None:
        self.harness = SessionHarness()

    def mock(self, times: float | None = None, harness: SessionHarness | None = None) -> Any:
        """Register a fixed answer; give what was sent."""
        harness = harness or self.harness
        options = sent_options({"status": 203, "body": "fixed"})
        promise = harness.session.http.route(
            make_matcher("**"), None, times, place="test.py:1", options=options
        )
        (message,) = harness.take()
        if harness.acknowledges:
            kept(promise)
        return message

    def replied(self, route_id: str, request_id: str = "r1") -> None:
        message = outbound.RequestReplied(request_id, request(), "app", route_id, "t1")
        self.harness.receive(message)


class RegisteredTests(ReplyCase):
    """What the proxy gets."""

    def test_reply(self) -> None:
        """The proxy gets the options as they are written, and how often the answer is given."""
        for times, sent in ((None, UNSET), (2, 2), (2.5, 3), (0, 1), (float("inf"), UNSET)):
            message = self.mock(times)
            self.assertEqual(message.options, {"status": 203, "body": b"fixed"})
            self.assertEqual(message.times, sent)

    def test_refused(self) -> None:
        """What the proxy refuses fails the call alone, and is no handler."""
        self.harness.acknowledges = False
        for code, kind in (("invalid_message", RoutingError), ("wrong_option", UsageError)):
            promise = self.harness.session.http.route(make_matcher("**"), None, options={})
            (message,) = self.harness.take()
            assert isinstance(message, inbound.RouteRegister)
            refusal = outbound.ProxyError(code, "bad", "t1", route_id=message.route_id)
            self.harness.receive(refusal)
            self.assertIsInstance(promise.error, kind)
        self.assertEqual(self.harness.session.errors, [])
        self.assertEqual(len(self.harness.session.http.live), 0)

    def test_refused_after_its_end(self) -> None:
        """A route that was removed before the proxy refused it stays removed."""
        self.harness.acknowledges = False
        promise = self.harness.session.http.route(make_matcher("**"), None)
        (message,) = self.harness.take()
        assert isinstance(message, inbound.RouteRegister)
        self.harness.session.http.unroute(None, None)
        refusal = outbound.ProxyError("invalid_message", "bad", "t1", route_id=message.route_id)
        self.harness.receive(refusal)
        self.assertIsInstance(promise.error, RoutingError)
        self.assertEqual(len(self.harness.session.http.live), 0)


class GivenTests(ReplyCase):
    """What the proxy says of requests that it answered."""

    def test_noted(self) -> None:
        """The request is this test's, with the response."""
        self.replied(self.mock().route_id)
        state = self.harness.session.traffic.requests["r1"]
        found = state.existing()
        assert found is not None
        self.assertEqual((found.wire.status, found.url), (203, URL))
        self.assertEqual(self.harness.session.http.decisions, {"r1": "fulfill"})
        self.assertEqual(self.harness.take(), [])

    def test_response_of_observers(self) -> None:
        """Where the proxy tells of responses, that one counts, and ends waits."""
        promise = self.harness.session.subscribe()
        self.harness.take()
        kept(promise)
        route_id = self.mock().route_id
        self.harness.observed()
        self.replied(route_id)
        state = self.harness.session.traffic.requests["r1"]
        self.assertIsNone(state.existing())
        self.harness.responded(answer=structs.replace(response(), status=203))
        found = state.existing()
        assert found is not None
        self.assertEqual(found.wire.status, 203)

    def test_answered_before_the_subscription(self) -> None:
        """What was answered before the proxy knew of the subscription is told of no more."""
        route_id = self.mock().route_id
        self.harness.acknowledges = False
        self.harness.session.subscribe()
        self.replied(route_id)
        self.assertIsNotNone(self.harness.session.traffic.requests["r1"].existing())

    def test_without_the_context(self) -> None:
        """A test that requires its context fails, as by a handler."""
        self.harness = SessionHarness(info=REQUIRED)
        self.replied(self.mock().route_id)
        (error,) = self.harness.session.errors
        self.assertIsInstance(error, IsolationError)

    def test_used_up(self) -> None:
        """After the last time it is no handler any more."""
        route_id = self.mock(1).route_id
        self.harness.receive(outbound.RouteExpired(route_id))
        self.assertEqual(len(self.harness.session.http.live), 0)
