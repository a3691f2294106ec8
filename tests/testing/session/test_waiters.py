"""Waiting for requests and responses."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness, entry, failure, kept, response
from trafficmock.testing.errors import (
    TestEndedError,
)
from trafficmock.testing.promise import mapped


class WaiterTests(SynchronousTestCase):
    """Waits for what is to come."""

    def setUp(self) -> None:
        self.harness = SessionHarness()

    def wait(self, kind: Any, wanted: Any, timeout: float = 30_000) -> Any:
        waiter = self.harness.session.observation.expect(kind, wanted, timeout)
        self.harness.acknowledge()
        return waiter

    def test_subscribes_first(self) -> None:
        """A wait is ready when nothing can be missed any more."""
        waiter = self.harness.session.observation.expect("request", URL, 0)
        self.assertFalse(waiter.ready.done)
        self.harness.acknowledge()
        self.assertTrue(waiter.ready.done)

    def test_future_only(self) -> None:
        """Only requests after it, and responses to those, count."""
        self.harness.observed("r1")
        asked, answer = self.wait("request", URL), self.wait("response", URL)
        self.harness.responded("r1")
        self.assertFalse(asked.promise.done or answer.promise.done)
        self.harness.observed("r2")
        self.assertEqual(kept(asked.promise).id, "r2")
        self.harness.responded("r2", response(201))
        self.assertEqual(kept(answer.promise).wire.status, 201)

    def test_read_late(self) -> None:
        """What the proxy saw before the wait does not count, read later as it may be."""
        self.harness.link.clock.advance(1)
        asked, answer = self.wait("request", URL, 100), self.wait("response", URL)
        self.harness.observed("r1", seen_at=999_999)
        self.harness.responded("r1")
        self.assertFalse(asked.promise.done or answer.promise.done)
        self.harness.link.clock.advance(0.1)
        self.harness.acknowledge()
        self.assertIn("came before the wait began", str(failure(asked.promise)))
        self.harness.observed("r2", seen_at=1_000_000)
        self.harness.responded("r2", response(201))
        self.assertEqual(kept(answer.promise).wire.status, 201)

    def test_decided_here(self) -> None:
        """What a handler decides only now counts: its application has had no answer before."""
        self.harness.route(lambda *_: None)
        self.harness.link.clock.advance(1)
        asked, answer = self.wait("request", URL), self.wait("response", URL)
        self.harness.observed("r1", seen_at=999_999)
        self.assertFalse(asked.promise.done)
        self.harness.matched("r1")
        self.assertEqual(kept(asked.promise).id, "r1")
        self.harness.responded("r1", response(201))
        self.assertEqual(kept(answer.promise).wire.status, 201)

    def test_no_limit(self) -> None:
        """A timeout of 0 means no timeout; a wait that is over leaves no timer."""
        endless, soon = self.wait("request", "**/never", 0), self.wait("request", URL)
        self.harness.observed()
        self.assertTrue(soon.promise.done)
        self.harness.link.clock.advance(10_000)
        self.assertFalse(endless.promise.done)
        self.assertEqual(self.harness.link.clock.getDelayedCalls(), [])

    def test_expired(self) -> None:
        """A wait that fails says what it saw; it does so too when the proxy is silent."""
        waiter = self.wait("request", "http://h.test/b", 100)
        self.harness.observed()
        self.harness.acknowledges = False
        self.harness.link.clock.advance(0.1)
        self.assertFalse(waiter.promise.done)
        self.harness.link.clock.advance(1)
        self.assertIn(f"GET {URL} (client app): path differs", str(failure(waiter.promise)))

    def test_failed_response(self) -> None:
        """A wait for a response says why the server gave none, as far as that is known."""
        waiter = self.wait("response", URL, 100)
        for number in (1, 2):
            self.harness.observed(f"r{number}")
        failed = [{"kind": "upstream_error", "detail": "connect ECONNREFUSED 127.0.0.1:9"}]
        self.harness.entries = [entry(1, "a", "passthrough", events=failed)]
        self.harness.link.clock.advance(0.1)
        self.harness.acknowledge()
        text = str(failure(waiter.promise))
        self.assertIn("(client app): no response (connect ECONNREFUSED 127.0.0.1:9)", text)
        self.assertIn("(client app): no response yet, or it failed", text)

    def test_late_link(self) -> None:
        """A hop that came before its redirect was known is offered again once it is."""
        waiter = self.wait("request", lambda request: request.redirected_from is not None)
        self.harness.observed("r1", "http://h.test/first")
        self.harness.observed("r2", URL)
        self.assertFalse(waiter.promise.done)
        self.harness.responded("r1", response(302, location="/a"))
        self.assertEqual(kept(waiter.promise).id, "r2")

    def test_response_that_never_came(self) -> None:
        """Who waits for the response of a request hears when the test ends without one."""
        self.harness.observed("r1")
        state = self.harness.session.traffic.requests["r1"]
        awaited = mapped(state.answered, lambda found: found)
        self.harness.session.finish()
        self.harness.acknowledge()
        self.assertIsInstance(failure(awaited), TestEndedError)

    def test_end(self) -> None:
        """The test's end ends its waits."""
        waiter = self.wait("request", URL)
        self.harness.session.finish()
        self.harness.acknowledge()
        self.assertIsInstance(failure(waiter.promise), TestEndedError)
