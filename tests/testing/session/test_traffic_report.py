"""What the report of a failing test says of the traffic around it."""

import asyncio
from typing import Any

from twisted.internet import reactor  # noqa: TID251 - trial's own
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tests.testing.fakes import SessionHarness, entry, failure, kept
from tests.testing.shared_app import shared_app
from trafficmock.core.effects import ConnectedClient
from trafficmock.testing import aio, sync, tx
from trafficmock.testing.adapters.teardown import show_in_text
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.session import TestInfo
from trafficmock.testing.session.traffic_report import traffic


def report(harness: SessionHarness) -> str:
    promise = traffic(harness.session)
    harness.acknowledge()
    harness.acknowledge()
    return kept(promise)


class AgentTests(SynchronousTestCase):
    """Who is connected."""

    def test_nobody(self) -> None:
        """Where no application is connected, the report says so, and how to attach one."""
        text = report(SessionHarness())
        self.assertIn("No application is connected to the proxy. Start it through", text)
        self.assertIn("trafficmock_env(client_id=...)", text)
        self.assertIn("No request came since the test began.", text)

    def test_ended(self) -> None:
        """An application whose requests came was attached, though it is gone by now."""
        harness = SessionHarness()
        harness.entries = [entry(1, "gone", "passthrough")]
        text = report(harness)
        self.assertIn("No application is connected to the proxy any more.\n", text)
        self.assertNotIn("trafficmock_env", text)

    def test_everybody(self) -> None:
        """Id, door, time and process are there, of the first ones."""
        harness = SessionHarness()
        harness.agents = [
            ConnectedClient("shop", "c1", 0, "node", 4711, "node server.js"),
            *(ConnectedClient(f"cart{number}", "c", 0, "proxy") for number in range(12)),
        ]
        text = report(harness)
        self.assertRegex(
            text,
            r"  shop, by the Node agent, since \d\d:\d\d:\d\d UTC, pid 4711, node server\.js\n",
        )
        self.assertIn("  cart0, by the forward proxy, since", text)
        self.assertIn("  and 3 more", text)

    def test_waiter(self) -> None:
        """A wait in which nothing came says who is connected, too."""
        harness = SessionHarness()
        waiter = harness.session.observation.expect("request", "^http://h\\.test/.*", 100)
        harness.overdue(waiter)
        text = str(failure(waiter.promise))
        self.assertIn("No application is connected", text)
        self.assertIn("a regular expression is given as re.compile(...)", text)

    def test_lost(self) -> None:
        """Without the proxy there is no report."""
        harness = SessionHarness(acknowledges=False)
        promise = traffic(harness.session)
        harness.client.closed("gone")
        self.assertIsInstance(failure(promise), ConnectionLostError)


class KindTests(SynchronousTestCase):
    """What became of each request."""

    def test_kinds(self) -> None:
        """Requests of this test, of others, refused ones and those that left are told apart."""
        # Without a context nobody can say which requests are this test's.
        harness = SessionHarness(info=TestInfo(title="buys", file="f.py", isolation="off"))
        mine = {"routeId": "id1", "testId": "t1", "title": "buys", "file": "f.py"}
        rival = {"routeId": "x", "testId": "t2", "title": "sells", "file": "g.py"}
        matches = [{**each, "workerId": "1", "matcher": {}} for each in (mine, rival)]
        owner = {"testId": "t2", "title": "sells", "path": "g.py"}
        harness.entries = [
            entry(4, "failed", "error", outcome={"code": "claim_timeout"}),
            entry(3, "both", "error", outcome={"code": "ambiguous_route", "matches": matches}),
            entry(2, "sold", "fulfill", **owner),
            entry(1, "gone", "passthrough"),
        ]
        text = report(harness)
        self.assertIn(
            "decided by another test: 1\n"
            "  GET http://h.test/sold, no response, client shop, test 'sells' in g.py\n",
            text,
        )
        self.assertIn(
            "refused, because several tests have a route for it: 1\n"
            "  GET http://h.test/both, client shop, with 'sells' in g.py (worker 1)\n",
            text,
        )
        self.assertIn("went to the real network: 1\n  GET http://h.test/gone", text)
        self.assertIn(
            "failed: 1\n  GET http://h.test/failed, no response, client shop, claim", text
        )

    def test_of_others(self) -> None:
        """What this test got without a context, while other tests ran, is marked."""
        harness = SessionHarness()
        harness.route(lambda routed, _: routed.fulfill({}))
        harness.matched("r1")
        mine = {"testId": "t1", "title": "buys", "path": "f.py"}
        for count, others in ((1, "another test"), (7, "7 other tests")):
            harness.entries = [entry(1, "1", "mocked", **mine, otherTests=count)]
            self.assertIn(f"it came without a context while {others} ran, and", report(harness))

    def test_upstream_failed(self) -> None:
        """A request that got no response from the real server says why, unless it was repeated."""
        harness = SessionHarness()
        refused = {"kind": "upstream_error", "detail": "connect ECONNREFUSED\n 127.0.0.1:9"}
        nameless = {"kind": "upstream_error"}
        answered = {"kind": "response", "detail": "200 OK"}
        harness.entries = [
            entry(3, "repeated", "passthrough", events=[refused, answered]),
            entry(2, "nameless", "passthrough", events=[answered, nameless]),
            entry(1, "refused", "passthrough", events=[{"kind": "observed"}, refused]),
        ]
        self.assertIn(
            "  GET http://h.test/refused, no response (connect ECONNREFUSED 127.0.0.1:9), client "
            "shop\n  GET http://h.test/nameless, no response (no reason given), client shop\n"
            "  GET http://h.test/repeated, no response, client shop",
            report(harness),
        )

    def test_given_up(self) -> None:
        """What the application gave up is said alike, whatever a handler decided of it."""
        harness = SessionHarness()
        held: list[Any] = []

        def late(routed: Any, done: Any) -> None:
            routed.fulfill({})
            done(None, None)

        def undecided(routed: Any, done: Any) -> None:
            held.append((routed, done))

        def aborting(routed: Any, done: Any) -> None:
            routed.abort({"abort": "aborted"})
            done(None, None)

        for number, handler in enumerate((late, undecided, aborting), start=1):
            harness.route(handler, f"**/{number}")
            harness.matched(f"r{number}", f"http://h.test/{number}")
        outcome = {"errorCode": "aborted"}
        harness.entries = [
            entry(number, str(number), "aborted", outcome=outcome) for number in (4, 3, 2, 1)
        ]
        text = report(harness)
        end = "no response, client shop, aborted: the application gave the request up\n"
        self.assertIn(f"  GET http://h.test/1, {end}  GET http://h.test/2, {end}", text)
        self.assertIn("  GET http://h.test/3, no response, client shop, abort\n", text)
        self.assertIn("failed: 1\n  GET http://h.test/4, no response, client shop, aborted: ", text)

    def test_broken_by_the_test(self) -> None:
        """A fault is said to be the test's: the application gave nothing up."""
        harness = SessionHarness()
        for number in (1, 2):
            harness.route(lambda *_: None, f"**/{number}")
            harness.matched(f"r{number}", f"http://h.test/{number}")
            harness.session.http.decisions[f"r{number}"] = "fulfill"
        head = {"status": 200, "statusText": "", "headers": {}, "bodyBase64": None}
        events = [{"kind": "broken_off", "detail": "the fault truncated"}]
        reset = {"kind": "broken_off", "detail": "the fault connection_reset"}
        harness.entries = [
            entry(2, "2", "mocked", outcome={"response": head}, events=events),
            entry(1, "1", "aborted", outcome={"errorCode": "connectionreset"}, events=[reset]),
        ]
        self.assertIn(
            "  GET http://h.test/1, no response (the fault connection_reset), client shop, "
            "fulfill\n"
            "  GET http://h.test/2, 200 (the fault truncated), client shop, fulfill",
            report(harness),
        )

    def test_repeated(self) -> None:
        """The same line is there once, with how often it came."""
        harness = SessionHarness()
        harness.entries = [
            *(entry(number, "often", "passthrough") for number in range(9, 4, -1)),
            entry(1, "once", "passthrough"),
        ]
        text = report(harness)
        self.assertIn(
            "real network: 6\n  GET http://h.test/once, no response, client shop\n"
            "  GET http://h.test/often, no response, client shop (5 times)",
            text,
        )
        harness = SessionHarness()
        harness.entries = [entry(number, str(number), "passthrough") for number in range(30, 0, -1)]
        self.assertIn("\n  and 10 more", report(harness))

    def test_unmet(self) -> None:
        """An idle route is named, with what kept the nearest request from it."""
        harness = SessionHarness()
        harness.entries = [entry(1, "charges?x=1", "passthrough")]
        harness.route(lambda *_: None, "http://h.test/charges")
        harness.session.http.route(
            make_matcher("http://h.test/*", client_id="cart"), lambda *_: None
        )
        harness.acknowledge()
        text = report(harness)
        self.assertIn("no request met the route 'http://h.test/charges': ", text)
        self.assertIn("charges?x=1 (client shop): query differs ('?x=1': a glob is for", text)
        self.assertIn("charges?x=1 (client shop): client differs ('shop', not 'cart')", text)

    def test_made_for_others(self) -> None:
        """Requests of other tests are left out, but for one that a route of this test matched."""
        harness = SessionHarness()
        route = harness.route(lambda *_: None, "http://h.test/3")
        other = {"testId": "t2", "title": "sells", "path": "g.py", "hasContext": True}
        harness.entries = [
            entry(4, "4", "passthrough", **other, late=True, alsoMatched=["x", route.id]),
            entry(3, "3", "passthrough", **other, alsoMatched=[route.id]),
            entry(2, "2", "passthrough", **other),
            entry(1, "1", "mocked", **other),
        ]
        text = report(harness)
        self.assertNotIn("other tests:", text)
        self.assertNotIn("http://h.test/1", text)
        start = "no response, client shop, test 'sells' in g.py"
        self.assertIn(
            "matched by a route of this test, but made for another test: 2\n"
            f"  GET http://h.test/3, {start}, route 'http://h.test/3'\n"
            f"  GET http://h.test/4, {start}, which had ended, route 'http://h.test/3'",
            text,
        )
        self.assertNotIn("no request met", text)

    def test_shared(self) -> None:
        """What a shared route decides is this test's with its context, and else nobody's."""
        harness = SessionHarness()
        run = {
            "testId": "run",
            "title": "routes of the run in worker 1",
            "path": "",
            "shared": True,
        }
        harness.entries = [
            entry(2, "polled", "mocked", **run),
            entry(1, "mine", "mocked", testId="t1", hasContext=True, shared=True),
        ]
        text = report(harness)
        self.assertIn("decided by a route that tests share: 1\n  GET http://h.test/mine", text)
        self.assertNotIn("polled", text)
        self.assertNotIn("another test", text)

    def test_others_where_contexts_come(self) -> None:
        """What others decided without a context is left out where this test's own come with one."""
        harness = SessionHarness()
        other = {"testId": "t2", "title": "sells", "path": "g.py"}
        mine = entry(2, "mine", "passthrough", testId="t1", hasContext=True)
        for own, named in (([], True), ([mine], False)):
            harness.entries = [*own, entry(1, "theirs", "mocked", **other)]
            self.assertEqual("decided by another test: 1" in report(harness), named)

    def test_long_reason(self) -> None:
        """A whole sentence about a broken answer is that of an error, and is not repeated."""
        harness = SessionHarness()
        events = [{"kind": "broken_off", "detail": "The test ended while it was open. " * 5}]
        harness.entries = [entry(1, "broken", "fulfill", testId="t1", events=events)]
        text = report(harness)
        self.assertIn("(broken off, see the errors)", text)
        self.assertNotIn("while it was open", text)

    def test_unmet_but_by_others(self) -> None:
        """An idle route names the requests of other tests that it would have matched."""
        harness = SessionHarness()
        harness.route(lambda *_: None, "http://h.test/charges")
        harness.session.http.route(make_matcher(self.fail), lambda *_: None)
        harness.acknowledge()
        other = {"testId": "t2", "title": "sells", "path": "g.py", "hasContext": True}
        harness.entries = [
            entry(3, "charges", "mocked", **other),
            entry(2, "charges", "mocked", **other),
            entry(1, "refunds", "mocked", **other),
        ]
        text = report(harness)
        test = "matches, but was made for the test 'sells' in g.py"
        self.assertIn(f"  GET http://h.test/charges (client shop, 2 times): {test}", text)
        self.assertNotIn("refunds", text)

    def test_unowned(self) -> None:
        """Where requests carry the context of the test, those without one are told apart."""
        harness = SessionHarness()
        harness.entries = [
            entry(2, "none", "passthrough"),
            entry(1, "mine", "passthrough", testId="t1", title="buys", path="f.py"),
        ]
        text = report(harness)
        end = "went to the real network: 1\n  GET http://h.test"
        self.assertIn(f"without a route of this test: {end}/mine", text)
        self.assertIn(f"without the context of a test, and without a route: {end}/none", text)

    def test_within(self) -> None:
        """What the test, or the application, sends to a part of the application is no leak."""
        harness = SessionHarness()
        url = "http://127.0.0.1:8000/price"
        harness.entries = [
            entry(
                1,
                "none",
                "passthrough",
                request={"method": "GET", "url": url, "headers": {}, "bodyBase64": None},
            )
        ]
        text = report(harness)
        self.assertNotIn("real network", text)
        self.assertIn(f"went to a local host: 1\n  GET {url}", text)

    def test_own_requests(self) -> None:
        """A test's list of requests has none with another test's context, and all without one."""
        harness = SessionHarness()
        harness.begin("t3", TestInfo(title="all", file="", shared="worker"))
        harness.entries = [
            entry(6, "shared", "mocked", testId="t3", title="all", path="", hasContext=True),
            entry(5, "shared", "mocked", testId="t3", title="all", path=""),
            entry(4, "without", "mocked", testId="t2", title="sells", path="g.py"),
            entry(3, "none", "passthrough"),
            entry(2, "other", "mocked", testId="t2", title="sells", path="g.py", hasContext=True),
            entry(1, "mine", "mocked", testId="t1", title="buys", path="f.py"),
        ]
        promise = harness.session.observation.requests(None)
        harness.acknowledge()
        harness.acknowledge()
        self.assertEqual([each.id for each in kept(promise)], ["r1", "r3", "r4", "r5", "r6"])

    def test_regex(self) -> None:
        """A regular expression that was written as a str is noticed."""
        for url, noticed in (
            ("^https://h.test/", True),
            ("https://h\\.test/charges", True),
            ("https://h.test/.*", True),
            ("https://h.test/(.*)", True),
            ("**/*.{png,jpg}", False),
            ("**/charges/*", False),
            ("https://h.test/v1.0/a?x=*", False),
        ):
            harness = SessionHarness()
            harness.route(lambda *_: None, url)
            self.assertEqual("re.compile(...)" in report(harness), noticed, url)

    def test_scheme(self) -> None:
        """A host without a scheme is noticed, with what the glob became."""
        for url, noticed in (
            ("partner.example/slow", True),
            ("api.partner.example", True),
            ("localhost:3000/**", True),
            ("*.partner.example/**", True),
            ("/partner.example/slow", False),
            ("assets/logo.png", False),
            ("index.html", False),
            ("https://partner.example/slow", False),
            ("**/slow", False),
        ):
            for base in (None, "http://127.0.0.1:5000"):
                info = TestInfo(title="buys", file="f.py", base_url=base)
                harness = SessionHarness(info=info)
                harness.route(lambda *_: None, url)
                of = f" of the base URL {base}" if base else ","
                wanted = f"has no scheme, so it is a path{of}"
                self.assertEqual(wanted in report(harness), noticed, url)

    def test_ambiguous_is_met(self) -> None:
        """A route whose requests were refused as ambiguous is not called idle."""
        harness = SessionHarness()
        route = harness.route(lambda *_: None, "http://h.test/both")
        match = {"routeId": route.id, "testId": "t1", "title": "", "file": "", "workerId": "0"}
        # A test that is in no file, as those of a script are.
        rival = {**match, "routeId": "x", "testId": "t2", "title": "buys"}
        matches = [{**each, "matcher": {}} for each in (match, rival)]
        refused = {"code": "ambiguous_route", "matches": matches}
        harness.entries = [entry(1, "both", "error", outcome=refused)]
        text = report(harness)
        self.assertNotIn("no request met", text)
        self.assertIn("client shop, with 'buys' (worker 0)", text)


class TextTests(SynchronousTestCase):
    """Runners that show no notes."""

    def test_shown(self) -> None:
        """A text is added to the errors that are made of one, and no other is spoiled."""
        for error in (ValueError("wrong"), AssertionError(), RuntimeError("a", 1)):
            show_in_text(error, "more")
            self.assertIn("more", str(error))
        for odd in (UnicodeDecodeError("utf-8", b"x", 0, 1, "reason"), KeyError("key")):
            before = str(odd)
            show_in_text(odd, "more")
            self.assertEqual(str(odd), before)


class BlockTests(TestCase):
    """An error that leaves a block of mocks, against a real proxy."""

    def check(self, error: BaseException) -> None:
        self.assertIn("traffic of this test:\nApplications that are connected:", error.__notes__[0])

    def test_sync(self) -> None:
        """The error of a blocking block has the report as a note."""
        with self.assertRaises(ValueError) as caught, sync.mocks(shared_app().proxy.url):
            raise ValueError("on purpose")
        self.check(caught.exception)

    def test_asyncio(self) -> None:
        """So has that of an asynchronous one."""

        async def fails() -> None:
            async with aio.mocks(shared_app().proxy.url):
                raise ValueError("on purpose")

        self.check(self.assertRaises(ValueError, asyncio.run, fails()))

    async def test_twisted(self) -> None:
        """And that of one under Twisted."""

        async def fails() -> None:
            async with tx.mocks(reactor, shared_app().proxy.url):
                raise ValueError("on purpose")

        failing: Deferred[Any] = Deferred.fromCoroutine(fails())
        self.check(await self.assertFailure(failing, ValueError))
