"""A session: its connection, its routes, and what handlers fetch."""

import os
from functools import partial
from typing import Any, cast
from unittest.mock import patch

from msgspec import UNSET
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness, failure, kept, request, response
from trafficmock.testing.adapters.ack_timeout import ack_seconds
from trafficmock.testing.adapters.twisted_connection import TwistedConnection
from trafficmock.testing.errors import (
    ConnectionLostError,
    FetchError,
    TestEndedError,
    UsageError,
)
from trafficmock.testing.session.arguments.callables import describe
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions
from trafficmock.testing.session.handlers.routed_request import RoutedRequest
from trafficmock.testing.session.handlers.stream_route import AwaitedStream
from trafficmock.testing.session.session import TestInfo
from trafficmock.testing.session.worker_client import WorkerClient, WorkerIdentity
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import OF_WORKERS
from trafficmock.wire.inbound import HandlerResult
from trafficmock.wire.limits import ACK_SECONDS, FILES_SECONDS
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fallback, Fetch
from trafficmock.wire.payloads.serialized_response import REQUEST_SETTLED, SerializedError


def fulfills(routed: RoutedRequest, done: Any) -> None:
    routed.fulfill({"body": b"mock"})
    done(None, None)


def falls_back(routed: RoutedRequest, done: Any) -> None:
    routed.fallback(url=None, method=None, headers=None, post_data=None)
    done(None, None)


class ConnectionTests(SynchronousTestCase):
    """The handshake, acknowledgements and the loss of the link."""

    def test_hello(self) -> None:
        """The client introduces itself first, with its features, and reports a refusal."""
        harness = SessionHarness()
        hello = harness.client.identity.hello()
        features = ["chain", "clock", "context", "shown-urls", "strict", "subscribe", "warnings"]
        self.assertEqual(hello.features, features)
        self.assertEqual((hello.role, hello.protocol_version), ("playwright", 3))
        self.assertTrue(harness.client.ready.done)

    def test_acknowledgement_is_late(self) -> None:
        """What is not acknowledged in time fails: within 5 s, or as the environment says."""
        for seconds, shown in ((None, "5 s"), (12.5, "12.5 s")):
            harness = SessionHarness(acknowledges=False)
            if seconds is not None:
                harness.client.ack_seconds = seconds
            promise = harness.session.subscribe()
            harness.link.clock.advance((seconds or 5) - 0.1)
            self.assertFalse(promise.done)
            harness.link.clock.advance(0.2)
            error = failure(promise)
            self.assertIsInstance(error, ConnectionLostError)
            self.assertIn(f"within {shown}; TRAFFICMOCK_ACK_TIMEOUT_MS", str(error))

    def test_acknowledgement_limit(self) -> None:
        """The environment sets the limit; what is no number of milliseconds is refused."""
        for given, expected in (("", 5.0), ("1", 0.001), ("20000", 20.0)):
            with patch.dict(os.environ, TRAFFICMOCK_ACK_TIMEOUT_MS=given):
                connection = TwistedConnection(Clock(), URL, WorkerIdentity(version="1"))
                self.assertEqual(connection.client.ack_seconds, expected)
        for wrong in ("0", "5 s", "-1", "1e4", "\u0665", "9" * 10):
            with patch.dict(os.environ, TRAFFICMOCK_ACK_TIMEOUT_MS=wrong):
                error = self.assertRaises(UsageError, ack_seconds)
                self.assertIn("TRAFFICMOCK_ACK_TIMEOUT_MS must be a number", str(error))

    def test_lost(self) -> None:
        """When the link is lost everybody who waits hears of it, and every call fails."""
        harness = SessionHarness()
        waiter = harness.session.observation.expect("request", "**/never", 0)
        fetches: list[Any] = []
        harness.route(lambda routed, _: fetches.append(routed.fetch(FetchOptions())))
        harness.matched()
        harness.client.closed("cut")
        for promise in (waiter.promise, fetches[0]):
            self.assertIsInstance(failure(promise), ConnectionLostError)
        with self.assertRaises(ConnectionLostError):
            harness.session.take_errors()
        (error,) = kept(harness.session.finish())
        self.assertIsInstance(error, ConnectionLostError)
        self.assertIsNone(error.__traceback__)
        self.assertEqual(
            str(error),
            "lost the connection to the trafficmock proxy at http://proxy.test:4310, which has "
            "ended or closed it: cut",
        )

    def test_ping(self) -> None:
        """A heartbeat is answered."""
        harness = SessionHarness()
        harness.receive(inbound.Ping(7))
        self.assertIn(inbound.Pong(7), harness.take())


class RouteTests(SynchronousTestCase):
    """Handlers and what is said of them on the wire."""

    def test_times(self) -> None:
        """The proxy gets ``times``, and says when the route is used up."""
        for times, sent in ((None, UNSET), (2, 2), (2.5, 3), (0, 1), (float("nan"), UNSET)):
            harness = SessionHarness()
            entry = harness.route(fulfills, times=times)
            (message,) = harness.take()
            assert isinstance(message, inbound.RouteRegister)
            self.assertEqual(message.times, sent)
            harness.receive(outbound.RouteExpired(entry.id))
            self.assertFalse(entry.active)
            harness.matched(route=entry)
            self.assertEqual(harness.results(), [("r1", "Fulfill")])

    def test_settings(self) -> None:
        """What is true or false is nothing else: a text would count as true."""
        settings = ("required", "strict", "browser_proxy", "door")
        for setting in settings:
            wrong: dict[str, Any] = {setting: "no"}
            with self.assertRaisesRegex(UsageError, f"^{setting} is True or False, not 'no'$"):
                TestInfo(**wrong)
        self.assertTrue(TestInfo(required=True).required)

    def test_claim(self) -> None:
        """A claim is answered with those of its routes that match; others are nobody's."""
        harness = SessionHarness()
        routes = [harness.route(fulfills), harness.route(fulfills, "**/other"), harness.route(id)]
        harness.take()
        asked = [*(each.id for each in routes[:2]), "gone"]
        claim = outbound.RequestClaim("r1", request(URL), "app", test_id="t1", route_ids=asked)
        harness.receive(claim)
        (answer,) = harness.take()
        self.assertEqual(
            answer, inbound.RequestClaimResult("r1", "t1", [inbound.RouteMatch(routes[0].id)])
        )

    def test_fallback(self) -> None:
        """A handler that falls back returns its changes to the proxy, once it has returned."""
        harness = SessionHarness()
        calls: list[Any] = []
        harness.route(lambda routed, done: calls.extend((routed, done)))
        harness.matched()
        harness.take()
        routed, done = calls
        routed.fallback(url=None, method="PUT", headers={"X-One": "1"}, post_data="two")
        self.assertEqual(harness.take(), [])
        done(None, None)
        (message,) = harness.take()
        assert isinstance(message, HandlerResult)
        assert isinstance(message.result, Fallback)
        changes = message.result.overrides
        assert changes is not UNSET
        self.assertEqual((changes.method, changes.headers), ("PUT", {"x-one": "1"}))
        self.assertEqual((routed.request.method, routed.request.content), ("PUT", b"two"))

    def test_unroute_all(self) -> None:
        """All routes are removed; what becomes of the handler that runs is as the call says."""
        behaviors: tuple[tuple[Any, str, list[Any]], ...] = (
            ("default", "continue", []),
            ("wait", "undecided", [("r1", "Abort")]),
            ("ignoreErrors", "undecided", [("r1", "Fallback")]),
        )
        for behavior, decision, results in behaviors:
            harness = SessionHarness()
            calls: list[Any] = []
            kept_entry = harness.route(fulfills)
            entry = harness.route(lambda routed, done, calls=calls: calls.extend((routed, done)))
            harness.matched()
            harness.take()
            removed = harness.session.http.unroute_all(behavior)
            harness.acknowledge()
            self.assertEqual(harness.session.http.decisions, {"r1": decision})
            self.assertEqual(len(harness.session.http.live), 0)
            self.assertEqual((entry.active, kept_entry.active), (False, False))
            self.assertEqual(removed.done, behavior != "wait")
            _, done = calls
            done(None, ValueError("late"))
            self.assertEqual(harness.results(), results)
            self.assertTrue(removed.done)
            self.assertEqual(len(harness.session.errors), behavior != "ignoreErrors")

    def test_requests(self) -> None:
        """A route has the requests that its handler got, oldest first, and no others."""
        harness = SessionHarness()
        entry, other = harness.route(fulfills), harness.route(fulfills, "**/other")
        for number in range(2):
            harness.matched(f"r{number}", route=entry)
        states = harness.session.traffic.requests
        self.assertEqual(entry.requests(), [states["r0"], states["r1"]])
        self.assertEqual(entry.running, [])
        self.assertEqual(other.requests(), [])

    def test_decided(self) -> None:
        """What was decided is not decided again, in no way, and cannot be fetched any more."""
        harness = SessionHarness()
        calls: list[Any] = []
        harness.route(lambda routed, done: calls.extend((routed, done)))
        harness.matched()
        routed, done = calls
        fulfills(routed, done)
        self.assertEqual(harness.results(), [("r1", "Fulfill")])
        nothing = {"url": None, "method": None, "headers": None, "post_data": None}
        for again in (
            partial(routed.fulfill, {}),
            partial(routed.stream, {}),
            partial(routed.continue_, {}, **nothing),
            partial(routed.abort, {"abort": "failed"}),
            partial(routed.fallback, **nothing),
            partial(routed.fetch, FetchOptions()),
        ):
            with self.assertRaises(UsageError):
                again()
        self.assertEqual(harness.take(), [])

    def test_fault(self) -> None:
        """The test has no response of an answer that breaks."""
        harness = SessionHarness()
        harness.route(lambda routed, _: routed.fulfill({"fault": "truncated"}))
        harness.matched()
        error = SerializedError("Error", "the fault truncated", code="fault")
        harness.receive(inbound.RequestResponse("r1", ok=False, error=error))
        self.assertIsNone(kept(harness.session.traffic.requests["r1"].answered))

    def test_file_outside(self) -> None:
        """The proxy cannot have a file written in another directory."""
        for name in ("../a.txt", "C:\\a.txt"):
            harness = SessionHarness()
            asked = harness.session.client.recording("t1", "q1")
            query = cast("Any", harness.take()[0])
            harness.receive(outbound.RecordingPiece(query.query_id, body.NULL, name))
            harness.receive(outbound.RecordingPiece(query.query_id, body.NULL, done=True))
            self.assertIsInstance(asked.error, UsageError)

    def test_stopped_proxy(self) -> None:
        """A recording is waited for no longer than it takes to make its files."""
        harness = SessionHarness()
        harness.acknowledges = False
        asked = harness.session.client.recording("t1", "q1")
        harness.link.clock.advance(ACK_SECONDS + FILES_SECONDS - 1)
        self.assertIsNone(asked.error)
        harness.link.clock.advance(1)
        self.assertIsInstance(asked.error, ConnectionLostError)

    def test_name(self) -> None:
        """A handler without code of its own is named with the call's place, if that is known."""
        harness = SessionHarness()
        matcher = make_matcher("**")
        streamed: Any = AwaitedStream(harness.session.client.link, "for '**' (test.py:3)")
        for handler, place, name in (
            (print, "test.py:3", "handler print (test.py:3)"),
            (print, UNSET, "handler print"),
            (streamed, "test.py:3", "handler for '**' (test.py:3)"),
            (fulfills, "test.py:3", describe(fulfills)),
        ):
            promise = harness.session.http.route(matcher, handler, place=place)
            harness.acknowledge()
            self.assertEqual(kept(promise).name, name)

    def test_unknown_route(self) -> None:
        """A run of a route that is gone goes back to the proxy."""
        harness = SessionHarness()
        entry = harness.route(fulfills)
        run = outbound.HandlerRun("r1", request(URL), "app", "1", "gone", "t1")
        harness.take()
        harness.receive(run)
        self.assertEqual(harness.results(), [("r1", "Fallback")])
        self.assertTrue(entry.active)

    def test_other_proxy(self) -> None:
        """A proxy that lacks something is refused, with its version and what it lacks."""
        harness = SessionHarness()
        older = [each for each in OF_WORKERS if each not in ("chain", "strict")]
        for known in (UNSET, older):
            client = WorkerClient(harness.link, WorkerIdentity(version="1.2.3"))
            client.receive(outbound.HelloOk("c1", 3, "0.1.8", "python-0", known))
            error = failure(client.ready)
            missing = ", ".join(OF_WORKERS if known is UNSET else ("chain", "strict"))
            self.assertEqual(
                str(error),
                "what answers at http://proxy.test:4310 is another proxy than trafficmock, or an "
                f"older one (version 0.1.8): it lacks {missing}, which this test worker needs. "
                'Start trafficmock 1.2.3 there ("trafficmock serve")',
            )

    def test_abandoned_before_or_after_the_return(self) -> None:
        """A request is aborted once its handler returned and nobody holds its route."""
        for early in (True, False):
            harness = SessionHarness()
            calls: list[Any] = []
            harness.route(lambda routed, done, calls=calls: calls.extend((routed, done)))
            harness.matched()
            routed, done = calls
            steps = [routed.abandoned, partial(done, None, None)]
            for step in steps if early else reversed(steps):
                self.assertEqual(harness.results(), [])
                step()
            self.assertEqual(harness.results(), [("r1", "Abort")])

    def test_fallback_after_the_return(self) -> None:
        """A kept route may fall back; what becomes of it then decides nothing."""
        harness = SessionHarness()
        calls: list[Any] = []
        harness.route(lambda routed, done: calls.extend((routed, done)))
        harness.matched()
        routed, done = calls
        done(None, None)
        self.assertEqual(harness.results(), [])
        falls_back(routed, lambda *_: None)
        self.assertEqual(harness.results(), [("r1", "Fallback")])
        routed.abandoned()
        self.assertEqual(harness.results(), [])

    def test_late_handler(self) -> None:
        """A handler that outlives its test can do nothing more, and is nobody's error."""
        harness = SessionHarness()
        calls: list[Any] = []
        harness.route(lambda routed, done: calls.extend((routed, done)))
        harness.matched()
        finished = harness.session.finish()
        harness.acknowledge()
        self.assertEqual(kept(finished), [])
        routed, done = calls
        with self.assertRaises(TestEndedError):
            routed.fulfill({})
        done(None, ValueError("late"))
        self.assertEqual(harness.session.errors, [])

    def test_abandoned_after_the_test(self) -> None:
        """A request whose route is dropped after the test is nobody's error either."""
        harness = SessionHarness()
        calls: list[Any] = []
        harness.route(lambda routed, done: calls.extend((routed, done)))
        harness.matched()
        routed, done = calls
        done(None, None)
        harness.session.finish()
        harness.acknowledge()
        harness.session.errors.clear()
        harness.take()
        routed.abandoned()
        self.assertEqual((harness.session.errors, harness.take()), ([], []))


class FetchTests(SynchronousTestCase):
    """Upstream fetches of handlers."""

    def setUp(self) -> None:
        self.harness = SessionHarness()
        self.routed: list[RoutedRequest] = []
        self.harness.route(lambda routed, _: self.routed.append(routed))
        self.harness.matched()
        self.harness.take()

    def fetch(self, **options: Any) -> Any:
        promise = self.routed[0].fetch(FetchOptions(**options))
        (message,) = self.harness.take()
        assert isinstance(message, HandlerResult)
        return promise, message.result

    def test_done(self) -> None:
        """The answer comes to the fetch that asked, whichever comes first."""
        one, asked = self.fetch()
        other, asked_later = self.fetch()
        for each, status in ((asked_later, 202), (asked, 201)):
            self.harness.receive(
                outbound.FetchDone("r1", each.fetch_id, ok=True, response=response(status))
            )
        self.assertEqual([kept(each).wire.status for each in (one, other)], [201, 202])

    def test_timeout(self) -> None:
        """A fetch fails after its milliseconds; 0 is no limit; a late answer changes nothing."""
        promise, asked = self.fetch(timeout=100)
        endless, _ = self.fetch(timeout=0)
        self.harness.link.clock.advance(1000)
        self.assertIn("Timeout 100ms", str(failure(promise)))
        self.assertFalse(endless.done)
        self.harness.receive(outbound.FetchDone("r1", asked.fetch_id, ok=True, response=response()))
        self.assertIsInstance(failure(promise), FetchError)

    def test_given_up(self) -> None:
        """The application may give up while a handler fetches: the test does not fail."""
        for text in ("the application aborted the request", "The request is already settled"):
            harness = SessionHarness()
            calls: list[Any] = []
            harness.route(lambda routed, done, calls=calls: calls.extend((routed, done)))
            harness.matched()
            harness.take()
            routed, done = calls
            promise = routed.fetch(FetchOptions())
            (message,) = harness.take()
            assert isinstance(message, HandlerResult)
            assert isinstance(message.result, Fetch)
            error = SerializedError("Error", text, code=REQUEST_SETTLED)
            harness.receive(
                outbound.FetchDone("r1", message.result.fetch_id, ok=False, error=error)
            )
            raised = failure(promise)
            self.assertEqual(str(raised), "the application gave the request up during the fetch")
            done(None, raised)
            self.assertEqual(harness.results(), [("r1", "Abort")])
            self.assertEqual(harness.session.errors, [])
            self.assertEqual(harness.session.http.open, {})

    def test_failed(self) -> None:
        """A fetch that fails for any other reason fails the test whose handler lets it."""
        harness = SessionHarness()
        calls: list[Any] = []
        harness.route(lambda routed, done: calls.extend((routed, done)))
        harness.matched()
        harness.take()
        promise = calls[0].fetch(FetchOptions())
        (message,) = harness.take()
        assert isinstance(message, HandlerResult)
        assert isinstance(message.result, Fetch)
        error = SerializedError("Error", "connect ECONNREFUSED", code="ECONNREFUSED")
        harness.receive(outbound.FetchDone("r1", message.result.fetch_id, ok=False, error=error))
        raised = failure(promise)
        calls[1](None, raised)
        self.assertIsInstance(raised, FetchError)
        self.assertEqual(harness.session.errors, [raised])

    def test_end(self) -> None:
        """The test's end ends its fetches, and leaves no timer."""
        promise, _ = self.fetch()
        self.harness.session.finish()
        self.harness.acknowledge()
        self.assertIsInstance(failure(promise), TestEndedError)
        self.assertEqual(self.harness.link.clock.getDelayedCalls(), [])
