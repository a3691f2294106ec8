"""Waiting for requests and responses."""

import re
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness, entry, failure, kept, response
from trafficmock.testing.errors import (
    TestEndedError,
)
from trafficmock.testing.promise import mapped


class URLPattern:
    """Matches nothing."""

    def test(self, url: str) -> bool:
        return False


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
        self.harness.entries = [entry(1, "a", "passthrough", timestamp=1999)]
        self.harness.link.clock.advance(0.1)
        self.harness.acknowledge()
        self.assertIn("(client shop): came before the wait began", str(failure(asked.promise)))
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
        """A wait that fails says what came, and which part of it differs."""
        waiter = self.wait("request", "http://h.test/b", 100)
        self.harness.entries = [entry(2, "a", "passthrough"), entry(1, "a", "passthrough")]
        self.harness.link.clock.advance(0.1)
        self.harness.acknowledge()
        self.assertIn(
            "nearest first:\n  GET http://h.test/a (client shop, 2 times): path differs ('/a', "
            "not '/b')",
            str(failure(waiter.promise)),
        )

    def test_right_parts(self) -> None:
        """Braces, capitals and default ports are read as routes read them."""
        for glob, text in (
            ("http://{h,www}.test/b", "path differs ('/a', not '/b')"),
            ("http://H.test/b", "path differs ('/a', not '/b')"),
            ("http://h.test:80/b", "path differs ('/a', not '/b')"),
            ("HTTP://h.test/{b,c}", "path differs ('/a', not '/{b,c}')"),
            ("http://{api,www}.Test/a", "host differs ('h.test', not '{api,www}.test')"),
            ("http://{h,www}.test:80/a", "port differs ('', not '80')"),
            ("http://h.test:8080/a", "port differs ('80', not '8080')"),
            (re.compile("/b$"), "the pattern does not match"),
            (URLPattern(), "the predicate did not want it"),
        ):
            waiter = self.wait("request", glob, 100)
            self.harness.entries = [entry(1, "a", "passthrough", timestamp=5000)]
            self.harness.link.clock.advance(0.1)
            self.harness.acknowledge()
            end = str(failure(waiter.promise)).rpartition("(client shop): ")[2]
            self.assertEqual(end, text, glob)

    def test_made_for_another_test(self) -> None:
        """A request that matches and carries the context of another test is named with it."""
        other = {"testId": "t2", "title": "sells", "path": "g.py", "hasContext": True}
        waiter = self.wait("request", URL, 100)
        self.harness.entries = [
            entry(2, "a", "passthrough", **other),
            entry(1, "b", "passthrough", **other),
        ]
        self.harness.link.clock.advance(0.1)
        self.harness.acknowledge()
        self.assertIn(
            "(client shop): made for the test 'sells' in g.py", str(failure(waiter.promise))
        )
        self.assertNotIn("h.test/b", str(failure(waiter.promise)))

    def test_silent_proxy(self) -> None:
        """Without an answer of the proxy, what this process observed is listed, without guesses."""
        for count, expected in (
            (9, "newest first:\n  GET http://h.test/8 (client app)\n"),
            (0, "Does the application run attached?"),
        ):
            self.harness = SessionHarness()
            waiter = self.wait("request", "http://h.test/b", 100)
            for number in range(count):
                self.harness.observed(f"r{number}", f"http://h.test/{number}")
            self.harness.acknowledges = False
            self.harness.link.clock.advance(0.1)
            self.assertFalse(waiter.promise.done)
            self.harness.link.clock.advance(1)
            text = str(failure(waiter.promise))
            self.assertIn(expected, text)
            self.assertEqual(text.endswith("\n  and 1 more"), count == 9, text)

    def test_failed_response(self) -> None:
        """A wait for a response says why the server gave none, as far as that is known."""
        waiter = self.wait("response", URL, 100)
        failed = [{"kind": "upstream_error", "detail": "connect ECONNREFUSED 127.0.0.1:9"}]
        self.harness.entries = [
            entry(2, "a", "passthrough", timestamp=5000),
            entry(1, "a", "passthrough", events=failed, timestamp=5000),
        ]
        self.harness.link.clock.advance(0.1)
        self.harness.acknowledge()
        text = str(failure(waiter.promise))
        self.assertIn("(client shop): no response (connect ECONNREFUSED 127.0.0.1:9)", text)
        self.assertIn("(client shop): no response yet, or it failed", text)

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
