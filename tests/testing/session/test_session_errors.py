"""What a test is told of mistakes, its own and others'."""

import warnings
from asyncio import CancelledError
from functools import partial
from typing import Any

from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness, kept
from trafficmock.testing.adapters.teardown import warn
from trafficmock.testing.errors import (
    IsolationError,
    MixedContextWarning,
    RoutingError,
    UndecidedError,
    UnseenTrafficWarning,
    UsageError,
)
from trafficmock.testing.session.handlers.handler_errors import translated
from trafficmock.testing.session.handlers.routed_request import RoutedRequest
from trafficmock.testing.session.session import TestInfo
from trafficmock.wire import outbound
from trafficmock.wire.inbound import HandlerResult


class ErrorTests(SynchronousTestCase):
    """Errors that the proxy sends about a test."""

    def test_ambiguous(self) -> None:
        """An ambiguous route names the other test and says how to tell them apart."""
        harness = SessionHarness()
        other = {"testId": "t2", "title": "sells", "file": "g.py", "workerId": "1", "matcher": {}}
        mine = {**other, "testId": "t1"}
        harness.receive(outbound.ProxyError("ambiguous_route", "Ambiguous", "t1", [mine, other]))
        (error,) = self.taken(harness)
        self.assertIsInstance(error, RoutingError)
        text = str(error)
        self.assertEqual(text.count("Also matched by"), 1)
        self.assertIn("'sells' in g.py (worker 1)", text)
        self.assertIn("client_id=", text)

    def test_ambiguous_without_a_file(self) -> None:
        """A rival that is no test of a file has its title and worker, once."""
        harness = SessionHarness()
        other = {"title": "sells", "file": "", "workerId": "1", "matcher": {}}
        for test_id, said in (("t2", "Ambiguous"), ("t3", 'Ambiguous: "sells" (worker 1)')):
            diagnostics = [{**other, "testId": test_id, "routeId": test_id}]
            harness.receive(outbound.ProxyError("ambiguous_route", said, "t1", diagnostics))
        nameless, named = self.taken(harness)
        self.assertIn("Also matched by 'sells' (worker 1)", str(nameless))
        self.assertNotIn("Also matched by", str(named))

    def test_repeated(self) -> None:
        """The same competition over many requests is one error, with a note of how many."""
        harness = SessionHarness()
        rivals = [{"routeId": "q", "testId": "t1"}, {"routeId": "p", "testId": "t2"}]
        for subject in ("one", "two", "three"):
            harness.receive(outbound.ProxyError("ambiguous_route", subject, "t1", rivals))
        other = [*rivals, {"routeId": "o", "testId": "t3"}]
        harness.receive(outbound.ProxyError("ambiguous_route", "with others", "t1", other))
        error, another = self.taken(harness)
        self.assertEqual(error.__notes__, ["2 more requests met the same."])
        self.assertEqual(getattr(another, "__notes__", []), [])

    def test_unseen(self) -> None:
        """Traffic that nobody sees is a warning, also in a test that requires its context."""
        harness = SessionHarness(info=TestInfo(isolation="required"))
        for code in (outbound.UNSEEN_CONNECTION, outbound.UNHOOKED_LIBRARY):
            harness.receive(outbound.TestWarning("t1", code, code))
        self.assertEqual(self.taken(harness), [])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn(harness.session)
        self.assertEqual({each.category for each in caught}, {UnseenTrafficWarning})
        self.assertEqual(len(caught), 2)

    def test_mixed_context(self) -> None:
        """A context that may be the wrong one is a warning; it fails a test that requires it."""
        said = outbound.TestWarning("t1", outbound.MIXED_CONTEXT, "GET http://a.test/ of ...")
        harness = SessionHarness()
        harness.receive(said)
        harness.receive(structs.replace(said, test_id="another"))
        self.assertEqual(self.taken(harness), [])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn(harness.session)
            warn(harness.session)
        (warning,) = caught
        self.assertIs(warning.category, MixedContextWarning)
        self.assertEqual(str(warning.message), said.message)
        required = SessionHarness(info=TestInfo(isolation="required"))
        required.receive(said)
        (error,) = self.taken(required)
        self.assertIsInstance(error, IsolationError)
        self.assertEqual(str(error), said.message)

    def test_advice_once(self) -> None:
        """What our proxy advises is not said again in other words."""
        harness = SessionHarness()
        message = "Ambiguous: Give each test's application its own client id."
        harness.receive(outbound.ProxyError("ambiguous_route", message, "t1", []))
        (error,) = self.taken(harness)
        self.assertEqual(str(error).count("client id"), 1)

    def test_sync_playwright(self) -> None:
        """The error of a page that is used on another thread becomes one that says what to do."""
        switch = type("error", (Exception,), {"__module__": "greenlet"})
        harness = SessionHarness()
        harness.route(lambda _, done: done(None, switch("cannot switch to a different thread")))
        harness.matched()
        (error,) = self.taken(harness)
        self.assertIn("belong to the thread of the test", str(error))
        self.assertIsInstance(error.__cause__, switch)
        self.assertIn("registered for", "".join(error.__notes__))

    def test_refused_options(self) -> None:
        """Options that the proxy refuses are an error of the call, and another one may follow."""
        harness = SessionHarness()
        requests: list[RoutedRequest] = []
        harness.route(lambda routed, _: requests.append(routed))
        harness.matched()
        harness.acknowledges = False
        for said in ("abort: 'x' is unknown", "abort: 'y' is unknown"):
            promise = requests[0].abort({"abort": "x"})
            (result,) = [each for each in harness.take() if isinstance(each, HandlerResult)]
            harness.receive(outbound.HandlerRead("r1", result.run_id or "", said))
            self.assertEqual(str(promise.error), said)
            self.assertIsInstance(promise.error, UsageError)
        harness.acknowledges = True
        promise = requests[0].abort({"abort": "failed"})
        harness.acknowledge()
        kept(promise)
        self.assertEqual(harness.results(), [("r1", "Abort")])

    def test_refused_after_the_return(self) -> None:
        """A refusal is the error of a handler that has not awaited its call."""
        for returns_before in (True, False):
            harness = SessionHarness()
            dones: list[Any] = []
            harness.route(lambda routed, done, dones=dones: dones.append((routed, done)))
            harness.matched()
            harness.acknowledges = False
            ((routed, done),) = dones
            routed.fulfill({"status": 99})
            (result,) = [each for each in harness.take() if isinstance(each, HandlerResult)]
            refusal = outbound.HandlerRead("r1", result.run_id or "", "status must be")
            steps: list[Any] = [partial(done, None, None), partial(harness.receive, refusal)]
            for step in steps if returns_before else reversed(steps):
                step()
            (error,) = harness.session.errors
            self.assertIn("status must be", str(error))
            self.assertEqual(harness.results(), [("r1", "Abort")])

    def taken(self, harness: SessionHarness) -> list[BaseException]:
        promise = harness.session.take_errors()
        harness.acknowledge()
        return kept(promise)

    def test_whose(self) -> None:
        """An error without a test is everybody's, another test's is not ours."""
        harness = SessionHarness()
        harness.receive(outbound.ProxyError("invalid_message", "for all"))
        harness.receive(outbound.ProxyError("internal", "another's", "t2"))
        self.assertEqual([str(each) for each in self.taken(harness)], ["for all"])

    def test_pointed_at(self) -> None:
        """A handler's error says which handler it was, on which line, for which request."""
        harness = SessionHarness()

        def breaks(_: RoutedRequest, done: Any) -> None:
            try:
                int("broken")
            except ValueError as error:
                done(None, error)

        harness.route(breaks)
        harness.matched()
        (error,) = self.taken(harness)
        notes = "\n".join(error.__notes__)
        self.assertIn("breaks (test_session_errors.py:", notes)
        self.assertIn('int("broken")', notes)
        self.assertIn(f"GET {URL}", notes)


class HandlerErrorTests(SynchronousTestCase):
    """What a handler raises."""

    def test_without_text(self) -> None:
        """An error whose text fails is told by its name, and where it was raised."""

        class OddError(Exception):
            def __str__(self) -> str:
                raise LookupError

        error = self.assertRaises(OddError, self.raise_, OddError())
        told = translated(error)
        self.assertEqual(str(told), "OddError, whose text cannot be read: LookupError")
        self.assertIs(told.__traceback__, error.__traceback__)

    def raise_(self, error: Exception) -> None:
        raise error

    def test_cancelled(self) -> None:
        """One that was cancelled says what cancels it."""
        told = translated(CancelledError())
        self.assertIsInstance(told, UndecidedError)
        self.assertIn("the end of the test's event loop", str(told))

    def test_with_text(self) -> None:
        """Any other is told as it is."""
        error = ValueError("plain")
        self.assertIs(translated(error), error)
