"""Waiting for requests and responses."""

import re
import sys
from typing import Any

import pytest
from msgspec import UNSET, Raw, json, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness, entry, failure, kept, response
from trafficmock.testing.errors import ConnectionLostError, TestEndedError, UsageError
from trafficmock.testing.promise import mapped
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.wire.outbound import HistoryResult
from trafficmock.wire.payloads.serialized_matcher import PlacedValues, SerializedMatcher
from trafficmock.wire.waits.wait_messages import WaitCancel, WaitJudge, WaitJudged


class URLPattern:
    """Matches nothing."""

    def test(self, url: str) -> bool:
        return False


class QueryTests(SynchronousTestCase):
    """``requests()`` with a function as a value."""

    def asked(self, function: Any, **answer: Any) -> Any:
        harness = SessionHarness()
        harness.entries = [entry(1, "?a=1", "passthrough")]
        matcher = make_matcher("**", base_url=None, match={"match_query": {"a": function}})
        placed = [PlacedValues("query", ["a"], ["1"])]
        answer = {"values": [Raw(json.encode(placed))], **answer}
        harness.found = HistoryResult("q", [Raw(b'{"id": "r1"}')], "all", **answer)
        promise = harness.session.observation.requests(matcher)
        harness.acknowledge()
        return promise

    def test_accepted(self) -> None:
        """The function gets the value that the proxy has read."""
        (found,) = kept(self.asked(lambda value: value == "1"))
        self.assertEqual(found.id, "r1")
        self.assertEqual(kept(self.asked(lambda value: value == "2")), [])

    def test_errors(self) -> None:
        """An error of the function, and an answer that lacks values, are errors of the call."""
        self.assertIsInstance(failure(self.asked(lambda _: 1 / 0)), ZeroDivisionError)
        self.assertIsInstance(failure(self.asked(lambda _: sys.exit(1))), SystemExit)
        self.assertIsInstance(failure(self.asked(bool, truncated=True)), UsageError)


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

    def test_filter(self) -> None:
        """Method and client id select as those of a route do, as arguments and in a mapping."""
        expect = self.harness.session.observation.expect
        named = {"method": "post", "client_id": ["a", "b"]}
        for wanted, given in (("**/a", named), ({"url": "**/a", **named}, {})):
            waiter = expect("request", wanted, 0, given)
            self.harness.acknowledge()
            matcher = self.harness.registered_wait(waiter).matcher
            self.assertEqual((matcher.methods, matcher.client_ids), (["POST"], ["a", "b"]))
        with self.assertRaisesRegex(UsageError, "conditions go with a URL"):
            expect("request", bool, 0, {"method": "post"})
        with self.assertRaisesRegex(TypeError, "'metod' is unknown; did you mean 'method'"):
            expect("request", "**", 0, {"metod": "post"})

    def test_registered(self) -> None:
        """The proxy is told what is awaited, since when, and what was known then."""
        self.harness.link.clock.advance(1)
        first = self.harness.registered_wait(self.wait("request", "**/a", 99.5))
        self.harness.observed("r1")
        self.harness.matched("r2", route=self.harness.route(lambda *_: None))
        second = self.harness.registered_wait(self.wait("response", bool, 0))
        self.assertEqual(first, structs.replace(first, kind="request", timeout_ms=100))
        self.assertEqual((first.matcher.url_glob, first.since, first.after), ("**/a", 10**6, UNSET))
        self.assertEqual(second.matcher, SerializedMatcher(predicate=True))
        self.assertEqual((second.kind, second.timeout_ms, second.after), ("response", UNSET, "r2"))

    def test_met(self) -> None:
        """The request or response that the proxy names is the one that the test knows."""
        asked, answer = self.wait("request", URL), self.wait("response", URL)
        self.harness.observed("r1")
        self.harness.meets(asked)
        self.assertIs(kept(asked.promise), self.harness.session.traffic.requests["r1"])
        self.harness.responded("r1", response(201))
        self.harness.meets(answer)
        self.assertEqual(kept(answer.promise).wire.status, 201)
        self.assertIs(kept(answer.promise).request, kept(asked.promise))

    def test_judged(self) -> None:
        """The proxy asks for predicates, and for patterns that it cannot compare."""
        for kind, wanted in (
            ("request", lambda request: request.id == "r2"),
            ("response", lambda response: response.wire.status == 202),
            ("response", re.compile("/2$")),
        ):
            self.harness = SessionHarness()
            waiter = self.wait(kind, wanted)
            for number in (1, 2):
                self.harness.observed(f"r{number}", f"http://h.test/{number}")
                self.harness.responded(f"r{number}", response(200 + number))
                self.harness.receive(WaitJudge(waiter.id, "t1", f"r{number}"))
            answers = [each for each in self.harness.take() if isinstance(each, WaitJudged)]
            expected = [
                WaitJudged(waiter.id, "r1", met=False),
                WaitJudged(waiter.id, "r2", met=True),
            ]
            self.assertEqual(answers, expected)
            self.assertFalse(waiter.promise.done)

    def test_predicate_raises(self) -> None:
        """An error of a predicate is that of the wait, and the proxy forgets the wait."""
        waiter = self.wait("request", lambda _: 1 / 0)
        self.harness.observed("r1")
        self.harness.receive(WaitJudge(waiter.id, "t1", "r1"))
        self.assertIsInstance(failure(waiter.promise), ZeroDivisionError)
        self.assertEqual(self.harness.take()[-1], WaitCancel(waiter.id))
        self.harness.receive(WaitJudge(waiter.id, "t1", "r1"))
        self.harness.meets(waiter)
        self.assertEqual(self.harness.take(), [])

    def test_predicate_ends(self) -> None:
        """So is an error that is no ``Exception``, and one of the truth of its result."""

        class Unclear:
            def __bool__(self) -> bool:
                raise KeyError("of several values")

        def skips(_: Any) -> bool:
            pytest.skip("not here")

        for wanted, kind in (
            (re.compile("x"), None),
            (lambda _: Unclear(), KeyError),
            (skips, pytest.skip.Exception),
            (lambda _: sys.exit(1), SystemExit),
        ):
            self.harness = SessionHarness()
            waiter = self.wait("request", wanted)
            self.harness.observed("r1")
            self.harness.receive(WaitJudge(waiter.id, "t1", "r1"))
            if kind is None:
                self.assertFalse(waiter.promise.done)
            else:
                self.assertIsInstance(failure(waiter.promise), kind)
                self.assertEqual(self.harness.take()[-1], WaitCancel(waiter.id))

    def test_slow_predicate(self) -> None:
        """The answer of a predicate that comes after the end of the wait is not sent."""
        waiter = self.wait("request", bool)
        late: list[Any] = []
        adapter = self.harness.session.adapter
        self.patch(adapter, "run_predicate", lambda *call: late.append(call[-1]))
        self.harness.observed("r1")
        self.harness.receive(WaitJudge(waiter.id, "t1", "r1"))
        self.harness.overdue(waiter)
        self.harness.take()
        late[0]("yes", None)
        late[0](None, ValueError())
        self.assertEqual(self.harness.take(), [])

    def test_cancelled(self) -> None:
        """A wait that is given up is not the proxy's any more; it leaves no timer."""
        waiter = self.wait("request", URL)
        waiter.promise.cancel()
        self.assertIsInstance(failure(waiter.promise), TestEndedError)
        self.assertEqual(self.harness.take()[-1], WaitCancel(waiter.id))
        self.assertEqual(self.harness.link.clock.getDelayedCalls(), [])

    def test_no_limit(self) -> None:
        """A timeout of 0 means no timeout; a wait that is over leaves no timer."""
        endless, soon = self.wait("request", "**/never", 0), self.wait("request", URL)
        self.harness.observed()
        self.harness.meets(soon)
        self.assertTrue(soon.promise.done)
        self.harness.link.clock.advance(10_000)
        self.assertFalse(endless.promise.done)
        self.assertEqual(self.harness.link.clock.getDelayedCalls(), [])

    def test_expired(self) -> None:
        """A wait that fails says what came, and which part of it differs."""
        for wanted, expected in (
            ("http://h.test/b", "path differs ('/a', not '/b')"),
            (re.compile("/b$"), "the pattern does not match"),
            (URLPattern(), "the predicate did not want it"),
            (URL, "came before the wait began: begin it before the act"),
        ):
            waiter = self.wait("request", wanted, 100)
            came = [entry(2, "a", "passthrough"), entry(1, "a", "passthrough")]
            later = [entry(2, "a", "passthrough", timestamp=5000)]
            self.harness.entries = came if wanted == URL else later * 2
            self.harness.overdue(waiter)
            self.assertEqual(
                str(failure(waiter.promise)).partition(": ")[0].partition("\n")[2],
                "Seen since the test began, nearest first:\n  GET http://h.test/a "
                "(client shop, 2 times)",
            )
            self.assertIn(f"(client shop, 2 times): {expected}", str(failure(waiter.promise)))

    def test_hint(self) -> None:
        """What may be wrong with the glob stands before that."""
        waiter = self.wait("request", "h.test/b", 100)
        self.harness.overdue(waiter)
        hint, nothing, *_ = str(failure(waiter.promise)).split("\n")[1:]
        self.assertIn("'h.test/b' has no scheme", hint)
        self.assertEqual(nothing, "No request of any application came since the test began.")

    def test_made_for_another_test(self) -> None:
        """A request that matches and carries the context of another test is named with it."""
        other = {"testId": "t2", "title": "sells", "path": "g.py", "hasContext": True}
        waiter = self.wait("request", URL, 100)
        self.harness.entries = [
            entry(2, "a", "passthrough", **other),
            entry(1, "b", "passthrough", **other),
        ]
        self.harness.overdue(waiter)
        self.assertIn(
            "(client shop): matches, but was made for the test 'sells' in g.py",
            str(failure(waiter.promise)),
        )
        self.assertNotIn("h.test/b", str(failure(waiter.promise)))

    def test_silent_proxy(self) -> None:
        """A proxy that does not even end the wait in time does not work any more."""
        waiter = self.wait("request", URL, 100)
        self.harness.link.clock.advance(5)
        self.assertFalse(waiter.promise.done)
        self.harness.link.clock.advance(0.1)
        self.assertIsInstance(failure(waiter.promise), ConnectionLostError)
        self.assertIn("did not answer wait:register within 5.1 s", str(failure(waiter.promise)))

    def test_failed_response(self) -> None:
        """A wait for a response says why the server gave none, as far as that is known."""
        waiter = self.wait("response", URL, 100)
        failed = [{"kind": "upstream_error", "detail": "connect ECONNREFUSED 127.0.0.1:9"}]
        self.harness.entries = [
            entry(2, "a", "passthrough", timestamp=5000),
            entry(1, "a", "passthrough", events=failed, timestamp=5000),
        ]
        self.harness.overdue(waiter)
        text = str(failure(waiter.promise))
        self.assertIn("(client shop): no response (connect ECONNREFUSED 127.0.0.1:9)", text)
        self.assertIn("(client shop): no response yet, or it failed", text)

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
