"""Strict runs, as people start them: whom a refused request fails, and by which text."""

import json
import re
import unittest as pyunit
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from twisted.internet import reactor  # noqa: TID251 - trial's own
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.node_parts import node_binary
from tests.support.processes.tested_proxy import start_proxy
from tests.support.waiting import wait_until
from tests.testing import runs
from tests.testing.row_context import ask, ask_through
from tests.testing.shared_app import shared_app
from trafficmock.attach.rest_probe import is_strict
from trafficmock.testing import sync, trial, tx, unittest
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.errors import UsageError
from trafficmock.testing.launch import Proxy, proxy_process
from trafficmock.testing.objects.blocking.traffic_mock import finish
from trafficmock.testing.session.session import TestInfo

SAMPLES = Path(__file__).parent / "samples"
PAY = "GET http://pay.test/v1/charges"
NEARLY = {
    "method": 'route POST "http://pay.test/v1/charges" (PLACE): '
    "method differs ('GET', not 'POST')",
    "host": 'route "http://pay.example/v1/charges" (PLACE): '
    "host differs ('pay.test', not 'pay.example')",
    "port": "route \"http://pay.test:8080/v1/charges\" (PLACE): port differs ('80', not '8080')",
    "path": "route \"**/v1/charge\" (PLACE): path differs ('/v1/charges', not '**/v1/charge')",
    "query": "route \"http://pay.test/v1/charges?x=1\" (PLACE): query differs ('', not '?x=1')",
    "client": "route \"http://pay.test/v1/charges\" (PLACE): client differs ('shop', not 'other')",
    "predicate": "route with a predicate (PLACE): its predicate said no",
    "regex": "route /charge$/ (PLACE): the pattern does not match",
}
PLACE = r"tests/testing/runners/samples/strictly\.py:\d+"
UNOWNED = "requests without a test, refused by strict mode: 1"


class PytestTests(SynchronousTestCase):
    """Runs of pytest."""

    def start(self) -> None:
        """Start a proxy, and one application for all workers."""
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.proxy = start_proxy([])
        stack.callback(self.proxy.stop)
        data = str(Path(self.mktemp()).absolute())
        app = [str(node_binary()), str(runs.APPLICATIONS / "prices.mjs")]
        child = runs.attached(self.proxy.url, app, "--client-id", "shop", data=data)
        stack.callback(child.stop)
        self.url = child.announced()["url"]

    def run_tests(self, *arguments: str) -> tuple[int, str]:
        """Run the sample; give the status and what was printed."""
        plugins = ("xdist",) if "-n" in arguments else ()
        finished = runs.finish(
            *(*runs.lean_pytest(*plugins), str(SAMPLES / "strictly.py"), *arguments),
            environment={
                **runs.LEAN,
                "SAMPLE_APP": self.url,
                "TRAFFICMOCK_PROXY_URL": self.proxy.url,
            },
        )
        return finished.returncode, finished.stdout

    def check(self, *arguments: str) -> None:
        """Check that each test is failed by its own requests, and by no others."""
        status, output = self.run_tests("--trafficmock-strict", *arguments)
        self.assertEqual(status, 1, output)
        self.assertIn("11 failed, 4 passed, 1 error in", output)
        title = re.compile(r"^_{3,} (?:ERROR at setup of )?(\S+) _{3,}$|^=+ req", re.MULTILINE)
        parts = title.split(output)
        texts = {name: text for name, text in zip(parts[1::2], parts[2::2], strict=True) if name}
        refused = f"{PAY} is not mocked, and strict mode allows nothing. "
        for differs, nearest in NEARLY.items():
            text = texts[f"test_nearly[{differs}]"]
            expected = re.escape(f"{refused}Nearest: {nearest}. Add a route, or allow pay.test.")
            self.assertRegex(text, expected.replace("PLACE", PLACE))
            self.assertEqual(text.count(f".UnmatchedRequestError: {refused}"), 1)
        self.assertIn(f"{refused}Add a route, or allow pay.test.", texts["test_no_route"])
        self.assertIn("2 more requests met the same", texts["test_often"])
        self.assertEqual(texts["test_often"].count(f".UnmatchedRequestError: {refused}"), 1)
        self.assertIn("see the errors: 3\n", texts["test_often"])
        self.assertIn("AssertionError", texts["test_that_fails_anyway"])
        self.assertIn("mocks of this test -", texts["test_that_fails_anyway"])
        self.assertNotIn("real network", output)
        self.assertIn("has no argument strcit; did you mean strict?", texts["test_misspelled"])
        self.assertEqual(output.count(UNOWNED), 1)
        listed = (
            r"\nGET http://nobody\.test/, client shop, process \d+ \(node prices\.mjs\), "
            r"at \d\d:\d\d:\d\d UTC\n  GET http://nobody\.test/"
        )
        self.assertRegex(output, listed)
        # Nothing was tried again.
        entries = ask(f"{self.proxy.url}/api/history")["entries"]
        codes = [entry["outcome"].get("code") for entry in entries]
        self.assertEqual(codes.count("unmatched_request"), 14, json.dumps(entries))

    def test_strict(self) -> None:
        """A test is failed by its own requests, and the run by those of nobody."""
        self.start()
        self.check()

    def test_workers(self) -> None:
        """With four workers each test fails alone, and the list is there once.

        The same tests pass where nothing is strict.
        """
        self.start()
        status, output = self.run_tests("-n", "4", "-k", "not misspelled and not anyway")
        self.assertEqual(status, 0, output)
        self.assertIn("14 passed in", output)
        self.check("-n", "4")

    def test_of_nobody(self) -> None:
        """A request that no test owns fails a run in which all tests pass, and no other run."""
        self.start()
        for arguments, expected in ((("--trafficmock-strict",), 1), ((), 0)):
            status, output = self.run_tests("-n", "2", "-k", "of_nobody or mocked", *arguments)
            self.assertEqual(status, expected, output)
            self.assertIn("2 passed", output)
            self.assertEqual(output.count(UNOWNED), expected)
            # The next run may send its request before it registers a test.
            wait_until(self.nothing_is_strict, "the end of the strict run")

    def nothing_is_strict(self) -> bool:
        return "lostRuns" not in ask(f"{self.proxy.url}/api/connections")

    def run_folder(self, ini: str, tests: str = "", conftest: str = "") -> tuple[int, str]:
        """Run a file of tests, by default with one that passes, with an ini file."""
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        (folder / "pytest.ini").write_text(f"[pytest]\n{ini}\n")
        (folder / "test_it.py").write_text(tests or PASSING)
        (folder / "conftest.py").write_text(conftest)
        finished = runs.finish(*runs.lean_pytest(), environment=runs.LEAN, cwd=folder)
        return finished.returncode, finished.stdout

    def test_started(self) -> None:
        """A run that starts a proxy finds what no test owns."""
        ini = "trafficmock_strict = true\ntrafficmock_allow = allowed.test"
        status, output = self.run_folder(ini)
        self.assertEqual(status, 1, output)
        self.assertIn("1 passed", output)
        self.assertIn(f"{UNOWNED} =", output)
        self.assertIn("GET http://nobody.test/, client proxy", output)

    def test_with_cause(self) -> None:
        """What came before the run, what a framework sends and what a run route has make no red.

        The service is strict, so the refusals before the run are in its list.
        """
        proxy = proxy_process.start_proxy(strict=True)
        self.addCleanup(proxy.stop)
        refused(proxy.url, "http://before.test/", {})
        ini = f"trafficmock_strict = true\ntrafficmock_proxy_url = {proxy.url}"
        status, output = self.run_folder(ini, INNOCENT, POLLED)
        self.assertEqual(status, 0, output)
        self.assertIn("what frameworks sent for themselves, refused by strict mode: 2 =", output)
        self.assertIn("allow preset:next, or have Next.js not send it", output)
        for absent in ("before.test", "flags.test", "requests without a test"):
            self.assertNotIn(absent, output)

    def test_no_application(self) -> None:
        """A strict run or test without an application fails; unit tests need none."""
        marked, unit = UNATTACHED.split("# ---")
        # A run again of the same test fails for itself.
        status, output = self.run_folder("", marked, AGAIN)
        self.assertEqual(status, 1, output)
        self.assertIn("4 passed, 2 errors", output)
        self.assertIn("No application was connected to the proxy during this strict test", output)
        strict = "trafficmock_strict = true"
        status, output = self.run_folder(strict, marked)
        self.assertEqual(status, 1, output)
        self.assertIn("2 passed", output)
        self.assertIn("No application was connected to the proxy during this strict run", output)
        status, output = self.run_folder(strict, unit)
        self.assertEqual(status, 0, output)

    def test_pattern(self) -> None:
        """A pattern that cannot be read ends the run before it begins."""
        status, output = self.run_folder("trafficmock_allow = half:a:port")
        self.assertEqual(status, 4, output)
        self.assertIn("ERROR: trafficmock_allow: the pattern 'half:a:port'", output)

    if not DEEP:
        test_workers.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
        test_started.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
        test_of_nobody.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


class ServiceTests(SynchronousTestCase):
    """A proxy that tests start, and that is strict from its beginning."""

    def test_service(self) -> None:
        """It refuses what came before the first test, but for what it or the test allows."""
        proxy = proxy_process.start_proxy(strict=True, allow=["allowed.test"])
        self.addCleanup(proxy.stop)
        self.assertTrue(is_strict(proxy.url))
        self.assertFalse(is_strict(shared_app().proxy.url))

        def refuses(url: str, headers: dict[str, str] | None = None) -> str:
            return refused(proxy.url, url, headers or {})

        self.assertIn("strict mode allows only allowed.test", refuses("http://early.test/"))
        self.assertIn("upstream", refuses("http://allowed.test/"))
        with sync.mocks(proxy.url) as mocks:
            (row,) = mocks.unmatched()
            self.assertEqual((row.url, row.count), ("http://early.test/", 1))
            refuses("http://own.test/", mocks.headers)
            (error,) = mocks.take_errors()
            self.assertIn("http://own.test/ is not mocked", str(error))
        connection = ThreadedConnection(proxy.url)
        self.addCleanup(connection.close)
        exempt, _ = sync.begin(connection, TestInfo(title="", file="", exempt=True))
        self.assertIn("upstream", refuses("http://own.test/", exempt.headers))
        self.assertEqual(finish(exempt), [])


UNATTACHED = """
import pytest

@pytest.mark.trafficmock(strict=True)
def test_strict(trafficmock):
    trafficmock.mock("https://pay.test/", status=200)

def test_other(trafficmock):
    pass
# ---
def test_unit():
    pass
"""

AGAIN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(2):
        # As pytest-rerunfailures does.
        item._initrequest()
        runtestprotocol(item, nextitem=nextitem)
    return True
"""

PASSING = """
import pytest
from urllib.error import HTTPError
from tests.testing.row_context import ask_through

def test_passes(trafficmock_proxy):
    with pytest.raises(HTTPError, match="403"):
        ask_through(trafficmock_proxy.url, "http://nobody.test/", {})
"""


POLLED = """
import pytest
from urllib.error import HTTPError
from tests.testing.row_context import ask_through

@pytest.fixture(scope="session", autouse=True)
def flags(trafficmock_proxy, trafficmock_shared):
    url = trafficmock_proxy.url
    with pytest.raises(HTTPError, match="403"):
        ask_through(url, "http://flags.test/all", {})
    trafficmock_shared(scope="run").mock("http://flags.test/all", body="none")
    assert ask_through(url, "http://flags.test/all", {}) == "none"
"""

INNOCENT = """
import pytest
from urllib.error import HTTPError
from tests.testing.row_context import ask_through

def test_passes(trafficmock, trafficmock_proxy):
    trafficmock.mock("**/*", body="all")
    for headers in ({}, trafficmock.headers):
        with pytest.raises(HTTPError, match="403"):
            ask_through(trafficmock_proxy.url, "http://telemetry.nextjs.org/x", headers)
    assert ask_through(trafficmock_proxy.url, "http://shop.test/", trafficmock.headers) == "all"
"""


class ClassTests(SynchronousTestCase):
    """The standard library's unittest, where the run is a class."""

    def run_class(self, host: str, allow: tuple[str, ...] = ()) -> dict[str, str]:
        """Run a class of tests that send requests to a host; give the errors that name it.

        The proxy is that of other tests, too.
        """
        proxy = Proxy(shared_app().proxy.url)

        class Strict(unittest.TestCase):
            trafficmock_proxy = proxy
            trafficmock_strict = True
            trafficmock_allow = allow

            def test_own(self) -> None:
                send(self.trafficmock.headers)

            def test_of_nobody(self) -> None:
                send({})

        def send(headers: dict[str, str]) -> None:
            refused(proxy.url, f"http://{host}/", headers)

        result = pyunit.TestResult()
        pyunit.defaultTestLoader.loadTestsFromTestCase(Strict).run(result)
        errors = {str(case).partition(" ")[0]: text for case, text in result.errors}
        return {name: text for name, text in errors.items() if host in text}

    def test_lost_connection(self) -> None:
        """A class whose connection is lost is strict again with its next test."""
        proxy, said = Proxy(shared_app().proxy.url), []

        class Strict(unittest.TestCase):
            trafficmock_proxy = proxy
            trafficmock_strict = True

            def test_1(self) -> None:
                type(self)._trafficmock_run.background.close()  # type: ignore[union-attr]

            def test_2(self) -> None:
                said.append(refused(proxy.url, "http://again.refused.test/", {}))

        result = pyunit.TestResult()
        pyunit.defaultTestLoader.loadTestsFromTestCase(Strict).run(result)
        self.assertIn("again.refused.test/ is not mocked", said[0])
        ((_, text),) = result.errors
        self.assertIn("\nGET http://again.refused.test/, client", text)

    def test_class(self) -> None:
        """A test is failed by its own request, the class by one that no test owns."""
        errors = self.run_class("class.refused.test")
        self.assertEqual(set(errors), {"test_own", "tearDownClass"}, errors)
        self.assertIn("UnmatchedRequestError: GET http://class.refused.test/", errors["test_own"])
        self.assertIn("\nGET http://class.refused.test/, client", errors["tearDownClass"])
        self.assertEqual(self.run_class("class.allowed.test", ("*.allowed.test",)), {})


class ConnectTests(trial.TestCase):
    """Twisted, where a connection makes the run strict."""

    trafficmock_strict = True
    trafficmock_allow = ("allowed.test",)

    def setUp(self) -> Any:
        self.trafficmock_proxy = Proxy(shared_app().proxy.url)
        return super().setUp()

    def refused(self, url: str, headers: dict[str, str]) -> Deferred[str]:
        return deferToThread(refused, shared_app().proxy.url, url, headers)

    async def test_attributes(self) -> None:
        """The attributes of the test case make its tests strict."""
        await self.refused("http://own.test/", self.trafficmock.headers)
        (error,) = await self.trafficmock.take_errors()
        self.assertIn("strict mode allows only allowed.test", str(error))

    async def test_run(self) -> None:
        """What no test owns is refused as long as the connection lives."""
        url = shared_app().proxy.url
        connection = await tx.connect(reactor, url, strict=True)
        said = await self.refused("http://twisted.test/", {})
        self.assertIn("It carries the context of no test", said)
        rows = await self.trafficmock.unmatched()
        self.assertIn("http://twisted.test/", [row.url for row in rows])
        await connection.close()
        with self.assertRaises(UsageError):
            await tx.connect(reactor, url, strict=True, allow=["a:b:c"])


def refused(proxy_url: str, url: str, headers: dict[str, str]) -> str:
    """Send a request for which the proxy answers with an error; give its text."""
    try:
        ask_through(proxy_url, url, headers)
    except HTTPError as error:
        with error:
            return error.read().decode()
    raise AssertionError(f"{url} was answered")
