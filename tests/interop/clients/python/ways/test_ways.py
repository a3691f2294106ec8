"""Tests at once under each server: what is asked belongs to the test whose page leads to it.

For what does not, the doctor tells where the context was lost.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.opentelemetry.frameworks import PATIENT
from tests.interop.clients.python import test_services
from tests.interop.clients.python.ways.labels import LABELS
from tests.interop.clients.python.ways.owners import (
    NOBODY,
    SECONDS,
    owners_by_way,
    result,
    told_by_way,
)
from tests.interop.clients.python.ways.pages import load, start
from tests.support.documents import table
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from trafficmock.testing import sync
from trafficmock.testing.sync import TrafficMock

HERE = "tests.interop.clients.python.ways"
PAGES = REPOSITORY / "docs" / "how-to" / "attach"
TESTS = "ABC"
GUNICORN = ("gunicorn", "--bind", "fd://FD", "--log-level", "error")
UVICORN = ("uvicorn", "--fd", "FD", "--log-level", "error")

LOST = {"program", "call-later"}
"""The ways that do not keep a request with its test: it is nobody's."""

TOLD = {
    "call-later": r"^A context came in last at [\d:]+ UTC to GET /way/[\w-]+ .* left from the task "
    r"Task-\d+ \(ask_async\), by httpx at .*fastapi_ways\.py:\d+ in ask_async\.$",
    "program": r"^No request with a context has come into process .* left from the main thread, "
    r"by urllib\.request at <string>:1 in <module>\.$",
}
"""What the doctor says of each request that a lost way has led to."""

SAID = {"right": "yes", "lost": "no"}
"""The words of the pages of the documentation."""


class WaysTests(SynchronousTestCase):
    """One process of each server, so that all pages meet in it."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def found(self, *words: str, **env: str) -> dict[str, str]:
        """Start a server, ask in each way for all tests at once, and say what came of it."""
        with ExitStack() as stack:
            proxy = stack.enter_context(running_proxy("--history-limit=1000", *PATIENT))
            mocks = {name: stack.enter_context(sync.mocks(proxy.url, title=name)) for name in TESTS}
            for name, each in mocks.items():
                each.mock("http://api.shop.test/**", body=name)
            python = test_services.python()
            page, ways = start(stack, "ways", python, proxy.url, words, **env)
            self.ask_all(page, ways, mocks)
            owners = owners_by_way(proxy.url, len(ways) * (len(TESTS) + 2))
            told = told_by_way(proxy.url)
            for each in mocks.values():
                each.unroute_all()
                each.take_errors()
        found = {way: result(owners[way], TESTS) for way in ways}
        if env.get("TRAFFICMOCK_CONTEXT") != "0":
            for way in (way for way in ways if found[way] == "lost" and way in TOLD):
                self.assertNotEqual(told[way], set(), way)
                for text in told[way]:
                    self.assertRegex(text, TOLD[way], way)
        return found

    def ask_all(self, page: str, ways: list[str], mocks: dict[str, TrafficMock]) -> None:
        headers = {NOBODY: {}, **{name: each.headers for name, each in mocks.items()}}
        with ThreadPoolExecutor(len(headers)) as pool:
            for way in ways:
                # What begins with the first request begins with this one.
                load(f"{page}/way/{way}?who=A", headers["A"])
                asked = [
                    pool.submit(load, f"{page}/way/{way}?who={who}", given)
                    for who, given in headers.items()
                ]
                for each in asked:
                    each.result(SECONDS)

    def check(self, framework: str, *words: str, **env: str) -> None:
        """Every way is right but those that are known by name, as the framework's page says."""
        found = self.found(*words, f"{HERE}.{framework}_ways:application", **env)
        expected = {way: "lost" if way in LOST else "right" for way in found}
        self.assertEqual(found, expected)
        self.assertGreaterEqual(len(found), 11)
        for label, said in table(PAGES / f"{framework}.md", "The request is sent by"):
            way = LABELS[framework][label]
            if way in found:
                self.assertEqual(said, SAID[found[way]], label)

    def test_gunicorn_sync(self) -> None:
        """One request after the other."""
        self.check("flask", *GUNICORN)

    def test_gunicorn_threads(self) -> None:
        """Threads, and an application that is loaded before the fork."""
        threads = ("--threads", "8", "--preload")
        for framework in ("flask", "django"):
            self.check(framework, *GUNICORN, *threads)

    def test_uvicorn(self) -> None:
        """One loop, of asyncio and of uvloop."""
        for loop in ("asyncio", "uvloop"):
            self.check("fastapi", *UVICORN, "--loop", loop)
        self.check("django", *UVICORN, ASGI="1")

    def test_off(self) -> None:
        """Where the preload reads no contexts nearly all is lost, so this can fail."""
        off = {"TRAFFICMOCK_CONTEXT": "0"}
        found = self.found(*UVICORN, f"{HERE}.fastapi_ways:application", **off)
        self.assertEqual(set(found.values()), {"lost"})
