"""The context of a test: how it is claimed and put on traffic, and what it changes."""

import asyncio
import re
from typing import Any, cast

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import SessionHarness, kept, request
from trafficmock.testing.errors import IsolationError, UsageError
from trafficmock.testing.objects.async_traffic_mock import AsyncTrafficMock
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.session import TestInfo
from trafficmock.testing.session.traffic_context import TrafficContext
from trafficmock.testing.session.worker_client import WorkerIdentity
from trafficmock.testing.sync import TrafficMock
from trafficmock.wire import outbound


def info(**more: Any) -> TestInfo:
    return TestInfo(title="buys", file="f.py", **more)


class RegistrationTests(SynchronousTestCase):
    """What a test registers with."""

    def test_auto(self) -> None:
        """Each test claims a context of its own, where the proxy knows contexts."""
        harness = SessionHarness()
        first = harness.registered.context
        assert isinstance(first, str)
        self.assertRegex(first, r"\A[0-9a-f]{32}\Z")
        self.assertEqual(harness.session.context.id, first)
        self.assertIs(harness.registered.scope, UNSET)
        self.assertNotEqual(harness.begin("t2", info()).context.id, first)

    def test_off(self) -> None:
        """A test without isolation claims none, and its requests carry nothing."""
        harness = SessionHarness(info=info(isolation="off"))
        self.assertIs(harness.registered.context, UNSET)
        self.assertEqual(harness.session.context.headers, {})

    def test_unknown(self) -> None:
        """An unknown setting is refused with the known ones."""
        error = self.assertRaises(UsageError, info, isolation="on")
        self.assertIn("auto, off, required, not 'on'", str(error))


class BrowserProxyTests(SynchronousTestCase):
    """The proxy for a test's browser."""

    def test_asked_for(self) -> None:
        """A test that wants one names the origins of its application, as origins are written."""
        urls = ("http://shop.test:80/cart", "https://shop.test:443", "http://*.test:8000/")
        harness = SessionHarness(info=info(browser_proxy=True, origins=urls))
        browser_proxy = harness.registered.browser_proxy
        assert browser_proxy is not UNSET
        self.assertEqual(
            browser_proxy.origins, ["http://shop.test", "https://shop.test", "http://*.test:8000"]
        )
        self.assertEqual(harness.session.browser_proxy(), {"server": "http://proxy.test:5000"})

    def test_older_name(self) -> None:
        """The setting ``door`` asks for one as well."""
        harness = SessionHarness(info=info(door=True))
        self.assertEqual(harness.session.browser_proxy(), {"server": "http://proxy.test:5000"})

    def test_other_ports(self) -> None:
        """The base URL is one port of the application; origins that are named are all."""
        for origins, base, expected in (
            (("http://127.0.0.1:3000/",), "http://127.0.0.1:3000/shop/", True),
            (("http://127.0.0.1:4000",), "http://127.0.0.1:3000", False),
            ((), "http://127.0.0.1:3000", False),
        ):
            harness = SessionHarness(info=info(browser_proxy=True, origins=origins, base_url=base))
            browser_proxy = harness.registered.browser_proxy
            assert browser_proxy is not UNSET
            self.assertEqual(browser_proxy.hosts_under_test, expected, origins)

    def test_address(self) -> None:
        """It is on the host of the service, and asks for the same token."""
        harness = SessionHarness(info=info(browser_proxy=True))
        harness.link.proxy_url = "http://[::1]:4310"
        harness.client.identity = WorkerIdentity(version="1", token="hush")
        self.assertEqual(
            harness.session.browser_proxy(),
            {"server": "http://[::1]:5000", "username": "browser", "password": "hush"},
        )

    def test_not_there(self) -> None:
        """Who did not ask for one is told how; a test without a context needs none."""
        adapter = cast("Any", None)
        mocks = TrafficMock(adapter, SessionHarness().session)
        self.assertRaisesRegex(UsageError, "browser_proxy=True", lambda: mocks.proxy)
        off = SessionHarness(info=info(isolation="off", browser_proxy=True))
        self.assertIs(off.registered.browser_proxy, UNSET)
        self.assertIsNone(TrafficMock(adapter, off.session).proxy)


class CarrierTests(SynchronousTestCase):
    """What carries a context."""

    def test_headers(self) -> None:
        """Baggage and trace context are as W3C has them, with the context as the trace id."""
        context = TrafficContext("0123456789abcdef" * 2)
        headers = context.headers
        self.assertEqual(headers["baggage"], f"trafficmock.test={context.id}")
        found = re.fullmatch("00-([0-9a-f]{32})-([0-9a-f]{16})-01", headers["traceparent"])
        assert found is not None
        self.assertEqual(found[1], context.id)

    def test_cookie(self) -> None:
        """The cookie is hidden from scripts; without a context it names no test."""
        cookie = TrafficContext("f" * 32).cookie
        self.assertEqual((cookie["name"], cookie["value"]), ("trafficmock_test", "f" * 32))
        self.assertEqual((cookie["httpOnly"], cookie["sameSite"]), (True, "Lax"))
        self.assertEqual(TrafficContext().cookie["value"], "none")

    def test_tag(self) -> None:
        """A browser context gets one cookie for each origin: those given, else the test's."""
        added: list[dict[str, Any]] = []

        class Sync:
            def add_cookies(self, cookies: list[dict[str, Any]]) -> None:
                added.extend(cookies)

        class Async:
            async def add_cookies(self, cookies: list[dict[str, Any]]) -> None:
                added.extend(cookies)

        session = SessionHarness(info=info(origins=("http://shop.test",))).session
        adapter = cast("Any", None)
        TrafficMock(adapter, session).tag(Sync())
        asyncio.run(AsyncTrafficMock(adapter, session).tag(Async(), "http://a", "http://b"))
        self.assertEqual(
            [each["url"] for each in added], ["http://shop.test", "http://a", "http://b"]
        )
        self.assertEqual({each["value"] for each in added}, {session.context.id})
        self.assertEqual({"path", "domain"} & added[0].keys(), set())
        self.assertEqual(session.context.cookies_for(["http://*.test", "http://shop?.test"]), [])
        self.assertEqual(TrafficContext().cookies_for(["http://a"]), [])
        nowhere = TrafficMock(adapter, SessionHarness().session)
        self.assertRaisesRegex(UsageError, "--base-url", nowhere.tag, Sync())


class RequiredTests(SynchronousTestCase):
    """``isolation="required"``."""

    def test_without(self) -> None:
        """A request without the context fails the test, once for each method and URL."""
        harness = SessionHarness(info=info(isolation="required"))
        harness.route(lambda routed, done: (routed.abort({"abort": "failed"}), done(None, None)))
        for number in range(3):
            harness.matched(f"r{number}")
        harness.matched("other", "http://h.test/other")
        finished = harness.session.finish()
        harness.take()
        first, second = kept(finished)
        self.assertIsInstance(first, IsolationError)
        self.assertRegex(
            str(first), r"\AGET http://h\.test/a of the application 'app' came without"
        )
        self.assertEqual(first.__notes__, ["2 more requests met the same."])
        self.assertIn("http://h.test/other", str(second))

    def test_with(self) -> None:
        """A request with the context does not."""
        harness = SessionHarness(info=info(isolation="required"))
        harness.context = "own"
        harness.route(lambda routed, done: (routed.abort({"abort": "failed"}), done(None, None)))
        harness.matched()
        finished = harness.session.finish()
        harness.take()
        self.assertEqual(kept(finished), [])


class SharedTests(SynchronousTestCase):
    """Routes that serve all tests of a worker."""

    def setUp(self) -> None:
        self.harness = SessionHarness()
        self.shared = self.harness.begin("shared", info(shared="worker"))
        self.asked: list[str] = []

    def of_all(self, routed: Any, done: Any) -> None:
        self.asked.append("shared")
        routed.abort({"abort": "failed"})
        done(None, None)

    def test_scope(self) -> None:
        """They are registered as such."""
        self.assertEqual(self.harness.registered.scope, "worker")

    def test_run(self) -> None:
        """A shared route runs for the test that owns the request."""
        self.shared.http.route(make_matcher("**"), self.of_all)
        (entry,) = self.shared.http.live
        self.harness.matched(route=entry)
        self.assertEqual(self.asked, ["shared"])
        self.assertEqual(self.harness.results(), [("r1", "Abort")])
        self.assertEqual(self.harness.session.http.decisions, {"r1": "abort"})

    def test_times(self) -> None:
        """A shared route that is used up is removed, whichever test used it."""
        self.shared.http.route(make_matcher("**"), self.of_all, 1)
        (entry,) = self.shared.http.live
        self.harness.receive(outbound.RouteExpired(entry.id))
        self.assertEqual(list(self.shared.http.live), [])

    def test_observed(self) -> None:
        """A request with a test's context is observed by that test alone."""
        self.harness.receive(
            outbound.RequestObserved("r1", request(), "app", context="own", test_id="t1")
        )
        self.harness.receive(outbound.RequestObserved("r2", request(), "app"))
        self.assertEqual(list(self.harness.session.traffic.requests), ["r1", "r2"])
        self.assertEqual(list(self.shared.traffic.requests), ["r2"])
