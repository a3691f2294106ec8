"""Parallel tests that mock the same URL on one application: each gets its own answer."""

import asyncio
import inspect
import json
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.node_parts import node_binary
from tests.support.processes.tested_proxy import start_proxy
from tests.support.self_signed import write_certificate
from tests.testing import runs
from tests.testing.row_context import ask, ask_through
from tests.testing.shared_app import shared_app
from trafficmock.testing import trial, unittest
from trafficmock.testing.adapters.tagged_browser import tagged, warn_of_other_proxy
from trafficmock.testing.errors import IsolationError
from trafficmock.testing.launch import Proxy

SAMPLES = Path(__file__).parent / "samples"
SHOP = runs.REPOSITORY / "docs" / "examples" / "shop" / "shop.mjs"


class OneServer:
    """One application, two workers that are at the same test at the same time."""

    class Tests(SynchronousTestCase):
        """The parent of the test cases, one for each kind of application."""

        options: tuple[str, ...] = ()
        carrier = "headers"

        def application(self) -> list[str]:
            raise NotImplementedError

        def setUp(self) -> None:
            stack = ExitStack()
            self.addCleanup(stack.close)
            self.proxy = start_proxy([])
            stack.callback(self.proxy.stop)
            data = str(Path(self.mktemp()).absolute())
            child = runs.attached(self.proxy.url, self.application(), *self.options, data=data)
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
                    "SAMPLE_CARRIER": self.carrier,
                    "TRAFFICMOCK_PROXY_URL": self.proxy.url,
                },
            )

        def test_isolated(self) -> None:
            """Nothing is ambiguous, and no test is answered by another one's routes."""
            output = self.run_both("required")
            self.assertIn("10 passed", output, output)
            entries = ask(f"{self.proxy.url}/api/history")["entries"]
            self.assertNotIn("ambiguous_route", json.dumps(entries))
            answered = sum(entry["action"] == "fulfill" for entry in entries)
            self.assertEqual(answered, 2 * 3 * 3 + 1 + 2)


class PropagatingTests(OneServer.Tests):
    """An application behind the forward proxy that carries baggage on."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    options = ("--no-agent",)

    def application(self) -> list[str]:
        return [
            "env",
            "TRAFFICMOCK_PYTHON_PRELOAD=0",
            sys.executable,
            str(runs.APPLICATIONS / "propagating_app.py"),
        ]


class NodeTests(OneServer.Tests):
    """A Node application that knows nothing of tests, with the agent; the carrier is the cookie."""

    carrier = "cookie"

    def application(self) -> list[str]:
        return [str(node_binary()), str(runs.APPLICATIONS / "prices.mjs")]

    def test_off(self) -> None:
        """Without contexts the same tests are ambiguous, and one is answered by another."""
        output = self.run_both("off")
        self.assertRegex(output, r"\b[6-9] failed")
        self.assertIn("Ambiguous backend mock routing", output)
        self.assertIn("AssertionError: gw0", output)

    if not DEEP:
        test_off.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


class BrowserTests(SynchronousTestCase):
    """Pages of pytest-playwright."""

    def test_contexts(self) -> None:
        """Every context that a test with mocks opens carries the test's, and no other one does.

        One with a proxy of its own has a cookie, and one from before the test if it is told.
        """
        pytest = runs.lean_pytest("playwright")
        output = runs.run(*pytest, str(SAMPLES / "in_a_browser.py"), environment=runs.LEAN)
        self.assertIn("6 passed", output, output)

    def test_token(self) -> None:
        """The same with a token, which the browser gives to the proxy of the test by itself."""
        pytest = runs.lean_pytest("playwright")
        token = "--trafficmock-token=a-token-of-sixteen-characters"
        output = runs.run(*pytest, str(SAMPLES / "in_a_browser.py"), token, environment=runs.LEAN)
        self.assertIn("6 passed", output, output)

    def test_launched_with_a_proxy(self) -> None:
        """Where the browser itself has a proxy, that one wins, and pytest says it once."""
        pytest = runs.lean_pytest("playwright")
        sample = SAMPLES / "launched_with_a_proxy.py"
        output = runs.run(*pytest, str(sample), environment=runs.LEAN)
        self.assertIn("2 passed", output, output)
        self.assertEqual(output.count("the browser has a proxy of its own"), 1, output)

    def test_https(self) -> None:
        """An application on https gets the cookie of the test, whose TLS no proxy reads."""
        proxy = start_proxy([])
        self.addCleanup(proxy.stop)
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        pem = write_certificate(folder)
        prices = str(runs.APPLICATIONS / "prices_https.mjs")
        command = ["env", f"PEM={pem}", str(node_binary()), prices]
        app = runs.attached(proxy.url, command, data=str(folder))
        self.addCleanup(app.stop)
        url = app.announced()["url"]
        variables = {**runs.LEAN, "SAMPLE_APP": url, "TRAFFICMOCK_PROXY_URL": proxy.url}
        pytest = (*runs.lean_pytest("xdist", "playwright"), "-n", "2")
        sample = str(SAMPLES / "in_a_browser_https.py")
        for origins, expected in ((url, "7 passed"), ("https://elsewhere.test", "failed")):
            more = ("--trafficmock-isolation=required", "-o", f"trafficmock_origins={origins}")
            output = runs.run(*pytest, *more, sample, environment=variables, seconds=1800)
            self.assertIn(expected, output, output)

    def test_words(self) -> None:
        """Where nobody knows the application, its origins are asked for."""
        for cookies, expected in ((["x"], "as a cookie"), ([], "trafficmock_origins")):
            with self.assertWarnsRegex(UserWarning, expected):
                warn_of_other_proxy(cookies, of="it", stacklevel=1)

    def on_one_shop(self, workers: int, count: int, isolation: str) -> tuple[str, str]:
        """Run tests with pages on one shop; give the output and the history."""
        proxy = start_proxy([])
        self.addCleanup(proxy.stop)
        command = [str(node_binary()), str(SHOP)]
        shop = runs.attached(proxy.url, command, data=str(Path(self.mktemp()).absolute()))
        self.addCleanup(shop.stop)
        output = runs.run(
            *(*runs.lean_pytest("xdist", "playwright"), str(SAMPLES / "on_one_shop.py")),
            *("-n", str(workers), "--base-url", shop.announced()["url"]),
            f"--trafficmock-isolation={isolation}",
            environment={
                **runs.LEAN,
                "SAMPLE_COUNT": str(count),
                "TRAFFICMOCK_PROXY_URL": proxy.url,
            },
            seconds=1800,
        )
        return output, json.dumps(ask(f"{proxy.url}/api/history"))

    def test_on_one_shop(self) -> None:
        """Eight workers whose pages use one shop: every page shows its own receipt."""
        output, history = self.on_one_shop(8, 200, "required")
        self.assertIn("200 passed", output, output)
        self.assertNotIn("ambiguous_route", history)
        _, history = self.on_one_shop(8, 25, "off")
        self.assertIn("ambiguous_route", history)

    if not DEEP:
        for each in (test_on_one_shop, test_https, test_token, test_launched_with_a_proxy):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]

    def test_choice(self) -> None:
        """A context gets the proxy of the test, else the cookies; one of its own wins, with a word.

        Applications on https have cookies beside the proxy.
        """
        cookies = [{"url": "http://shop.test"}, {"url": "https://shop.test"}]
        proxy, own = {"server": "http://h:1"}, {"server": "http://own:1"}
        cases: list[tuple[Any, dict[str, Any], tuple[Any, Any]]] = [
            (proxy, {}, (proxy, cookies[1:])),
            (proxy, {"proxy": own}, (own, cookies)),
            (None, {}, (None, cookies)),
        ]
        for given, options, expected in cases:
            for browser in (FakeBrowser(), FakeAsyncBrowser()):
                with (
                    warnings.catch_warnings(record=True) as caught,
                    tagged(browser, given, cookies),
                ):
                    warnings.simplefilter("always")
                    opened = browser.new_context(**options)
                    if inspect.isawaitable(opened):
                        asyncio.run(cast("Any", opened))
                self.assertEqual((browser.proxy, browser.cookies), expected)
                # Objects of other tests may be collected here, with a warning of Python's own.
                warned = [each for each in caught if each.category is UserWarning]
                self.assertEqual(len(warned), int(options != {}))
                self.assertEqual(vars(browser).keys(), {"proxy", "cookies"})

    def test_saved_state(self) -> None:
        """A state that another test has saved comes without the cookie of that test."""
        session = {"name": "session", "value": "mine"}
        state = {"cookies": [session, {"name": "trafficmock_test", "value": "x"}], "origins": []}
        file = Path(self.mktemp())
        file.write_text(json.dumps(state))
        browser = KeepingBrowser()
        with tagged(browser, None, []):
            for each in (state, file, str(file)):
                browser.new_context(storage_state=each)
                expected = {"cookies": [session], "origins": []}
                self.assertEqual(browser.options, {"storage_state": expected})
            # Playwright itself complains.
            browser.new_context(storage_state="missing.json")
            self.assertEqual(browser.options, {"storage_state": "missing.json"})


class KeepingBrowser:
    """A browser that keeps what a context is opened with."""

    options: dict[str, Any]

    def new_context(self, **options: Any) -> None:
        self.options = options


class FakeBrowser:
    """A browser that is its own context; it keeps what it is given."""

    def __init__(self) -> None:
        self.proxy: Any = None
        self.cookies: list[Any] = []

    def new_context(self, proxy: Any = None) -> Any:
        self.proxy = proxy
        return self

    def add_cookies(self, cookies: list[Any]) -> Any:
        self.cookies += cookies


class FakeAsyncBrowser(FakeBrowser):
    """The same of async Playwright."""

    async def new_context(self, proxy: Any = None) -> Any:
        return super().new_context(proxy)

    async def add_cookies(self, cookies: list[Any]) -> Any:
        super().add_cookies(cookies)


class TrialTests(trial.TestCase):
    """The attributes of trial's test case."""

    trafficmock_isolation = "off"
    trafficmock_door = True

    def setUp(self) -> Any:
        self.trafficmock_proxy = Proxy(shared_app().proxy.url)
        return super().setUp()

    def test_attributes(self) -> None:
        """They set what its mocks put on traffic."""
        mocks = self.trafficmock
        self.assertEqual((mocks.id, mocks.headers, mocks.proxy), (None, {}, None))


class UnittestTests(unittest.TestCase):
    """The attributes of unittest's test case."""

    trafficmock_isolation = "required"
    trafficmock_origins = ("http://127.0.0.1:*",)
    trafficmock_browser_proxy = True

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
        assert self.trafficmock.proxy is not None
        browser_proxy = self.trafficmock.proxy["server"]
        echo = ask_through(browser_proxy, f"{shared_app().upstream_url}/echo/browser", {})
        self.assertIn(f"trafficmock.test={self.trafficmock.id}", echo)
        ask_through(proxy_url, "http://prices.test/", {})
        (error,) = self.trafficmock.take_errors()
        self.assertIsInstance(error, IsolationError)
