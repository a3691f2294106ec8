"""Parallel tests that mock the same URL on one application: each gets its own answer."""

import asyncio
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast
from unittest.mock import AsyncMock

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.support.child_process import Child
from tests.support.tested_proxy import start_proxy
from tests.testing import runs
from tests.testing.row_context import ask, ask_through
from tests.testing.shared_app import shared_app
from trafficmock.testing import trial, unittest
from trafficmock.testing.adapters.tagged_browser import tagged
from trafficmock.testing.errors import IsolationError
from trafficmock.testing.launch import Proxy

SAMPLES = Path(__file__).parent / "samples"


class OneServerTests(SynchronousTestCase):
    """One application, two workers that are at the same test at the same time."""

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.proxy = start_proxy([])
        stack.callback(self.proxy.stop)
        command = ("-m", "trafficmock", "run", "--no-agent", "--proxy-url", self.proxy.url, "--")
        app = (sys.executable, str(SAMPLES / "propagating_app.py"))
        data = {"XDG_DATA_HOME": str(Path(self.mktemp()).absolute())}
        child = Child.start("app", [sys.executable, *command, *app], env=data)
        stack.callback(child.stop)
        self.url = child.announced()["url"]

    def run_both(self, isolation: str) -> str:
        pytest = runs.lean_pytest("xdist")
        return runs.run(
            *(*pytest, str(SAMPLES / "on_one_server.py"), "--dist=each", "--tx=2*popen"),
            f"--trafficmock-isolation={isolation}",
            environment={
                **runs.LEAN,
                "SAMPLE_APP": self.url,
                "TRAFFICMOCK_PROXY_URL": self.proxy.url,
            },
        )

    def test_isolated(self) -> None:
        """Nothing is ambiguous, and no test is answered by another one's routes."""
        output = self.run_both("required")
        self.assertIn("10 passed", output, output)
        entries = ask(f"{self.proxy.url}/api/history")["entries"]
        self.assertNotIn("ambiguous_route", json.dumps(entries))
        self.assertEqual(sum(entry["action"] == "fulfill" for entry in entries), 2 * 3 * 3 + 1 + 2)

    def test_off(self) -> None:
        """Without contexts the same tests are ambiguous, and one is answered by another."""
        output = self.run_both("off")
        self.assertRegex(output, r"\b[6-9] failed")
        self.assertIn("ambiguous", output)
        self.assertIn("AssertionError: gw0", output)


class BrowserTests(SynchronousTestCase):
    """Pages of pytest-playwright."""

    def test_cookie(self) -> None:
        """Every context of a test with mocks has the test's cookie, and no other one has."""
        pytest = runs.lean_pytest("playwright")
        output = runs.run(*pytest, str(SAMPLES / "in_a_browser.py"), environment=runs.LEAN)
        self.assertIn("3 passed", output, output)

    def test_async(self) -> None:
        """So has every context of async Playwright; afterwards the browser is as it was."""

        class Browser:
            def __init__(self) -> None:
                self.cookies: list[str] = []

            async def new_context(self) -> "Browser":
                return self

            async def add_cookies(self, cookies: list[str]) -> None:
                self.cookies += cookies

        browser = Browser()
        with tagged(browser, cast("Any", ["cookie"])):
            asyncio.run(browser.new_context())
        asyncio.run(browser.new_context())
        self.assertEqual(browser.cookies, ["cookie"])


class TrialTests(trial.TestCase):
    """The attributes of trial's test case."""

    trafficmock_isolation = "off"
    trafficmock_origins = ("http://shop.test",)

    def setUp(self) -> Any:
        self.trafficmock_proxy = Proxy(shared_app().proxy.url)
        return super().setUp()

    def test_attributes(self) -> None:
        """They set what its mocks put on traffic."""
        self.assertIsNone(self.trafficmock.id)
        cookies: list[Any] = []
        context: Any = AsyncMock()
        context.add_cookies = AsyncMock(side_effect=cookies.extend)
        self.successResultOf(Deferred.fromCoroutine(self.trafficmock.tag(context)))
        self.assertEqual([each["url"] for each in cookies], ["http://shop.test"])


class UnittestTests(unittest.TestCase):
    """The attributes of unittest's test case."""

    trafficmock_isolation = "required"

    def setUp(self) -> None:
        self.trafficmock_proxy = Proxy(shared_app().proxy.url)
        super().setUp()

    def test_attributes(self) -> None:
        """They set what its mocks put on traffic."""
        self.assertRegex(str(self.trafficmock.id), r"\A[0-9a-f]{32}\Z")
        self.trafficmock.route("http://prices.test/", lambda route: route.fulfill(body="3"))
        proxy_url = shared_app().proxy.url
        answer = ask_through(proxy_url, "http://prices.test/", self.trafficmock.headers)
        self.assertEqual((answer, self.trafficmock.take_errors()), ("3", []))
        ask_through(proxy_url, "http://prices.test/", {})
        (error,) = self.trafficmock.take_errors()
        self.assertIsInstance(error, IsolationError)
