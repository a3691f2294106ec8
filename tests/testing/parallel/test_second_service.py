"""Whose request it is behind a second service, and how a lost context is told."""

import json
import secrets
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar
from urllib.error import HTTPError

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.tested_proxy import start_proxy
from tests.support.threaded_server import threaded_server
from tests.support.waiting import wait_until
from tests.testing import runs
from tests.testing.parallel.samples.on_two_servers import page
from tests.testing.row_context import ask
from trafficmock.testing import sync
from trafficmock.testing.session.traffic_context import Isolation

FRONT = runs.REPOSITORY / "agent" / "test" / "apps" / "front.mjs"
FLASK = runs.APPLICATIONS / "pages_flask.py"
INSTRUMENT = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
QUIET = ("OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none")
TESTS = 4
SECONDS = 60.0
POLLS = 5000


class ThirdParty(BaseHTTPRequestHandler):
    """Keeps the headers that arrive."""

    arrived: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Answer."""
        self.arrived.append(str(self.headers))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"third")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


class TwoServicesTests(SynchronousTestCase):
    """A Node server that asks a Flask server, both attached."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        port = stack.enter_context(threaded_server(ThirdParty))
        self.third = f"http://third.test:{port}"
        self.proxy = start_proxy([f"--resolve=third.test:{port}:127.0.0.1"])
        stack.callback(self.proxy.stop)
        data = str(Path(self.mktemp()).absolute())
        flask = ["env", *QUIET, f"SAMPLE_THIRD={self.third}", sys.executable, "-c", INSTRUMENT]
        flask += [sys.executable, str(FLASK)]
        back = runs.attached(self.proxy.url, flask, "--no-agent", data=data)
        stack.callback(back.stop)
        node = shutil.which("node") or "node"
        command = ["env", f"BACK={back.announced()['url']}", node, str(FRONT)]
        front = runs.attached(self.proxy.url, command, data=data)
        stack.callback(front.stop)
        self.front = front.announced()["url"]

    def load(self, token: str, isolation: Isolation = "required") -> str:
        """Load a page in a test that answers with a token of its own."""

        def fulfill(route: Any) -> None:
            assert mocks.id is None or mocks.id not in json.dumps(route.request.headers)
            route.fulfill(body=token)

        with sync.mocks(self.proxy.url, title=token, isolation=isolation) as mocks:
            mocks.route(f"{self.third}/**", fulfill)
            try:
                return page(self.front, mocks.headers)
            except HTTPError as error:
                return str(error)
            finally:
                if isolation == "off":
                    mocks.unroute_all()
                    mocks.take_errors()

    def load_all(self, isolation: Isolation) -> tuple[list[str], list[str], str]:
        """Load pages at once; give what was expected, what came, and the history."""
        tokens = [secrets.token_hex(8) for _ in range(TESTS)]
        with ThreadPoolExecutor(TESTS) as pool:
            pages = list(pool.map(lambda token: self.load(token, isolation), tokens))
        history = ask(f"{self.proxy.url}/api/history?limit=1000")["entries"]
        return [" ".join([token] * 3) for token in tokens], pages, json.dumps(history)

    def test_owned(self) -> None:
        """What the second service asks belongs to the test whose page it is for.

        Without contexts it is ambiguous.
        """
        expected, pages, history = self.load_all("required")
        self.assertEqual(pages, expected)
        self.assertNotIn("ambiguous_route", history)
        expected, pages, history = self.load_all("off")
        self.assertNotEqual(pages, expected)
        self.assertIn("ambiguous_route", history)

    def test_third_party(self) -> None:
        """A server that is not of the system gets nothing of the context, by either service."""
        ThirdParty.arrived.clear()
        with sync.mocks(self.proxy.url, title="passes") as mocks:
            self.assertEqual(page(self.front, mocks.headers), "third third third")
            names = [entry["title"] for entry in ask(f"{self.proxy.url}/api/history")["entries"]]
        self.assertEqual(names, ["passes"] * len(names))
        self.assertEqual(len(ThirdParty.arrived), 3)
        arrived = "".join(ThirdParty.arrived)
        self.assertIn("traceparent", arrived)
        for ours in ("trafficmock.test", "trafficmock_test", str(mocks.id)):
            self.assertNotIn(ours, arrived)

    def ask_late(self, isolation: Isolation) -> tuple[list[str], dict[str, Any]]:
        """Let a page ask when its test has ended, and another test mocks the URL.

        Give what that one answered, and the entry of the history.
        """
        answered: list[str] = []

        def fulfill(route: Any) -> None:
            answered.append(route.request.url)
            route.fulfill(body="of another")

        with sync.mocks(self.proxy.url, title="over", isolation=isolation) as first:
            page(self.front, first.headers, "later")
        with sync.mocks(self.proxy.url, title="runs", isolation=isolation) as second:
            second.route("**/price", fulfill)
            page(self.front, second.headers, "now")
            wait_until(lambda: self.asked() != [], "the request")
            (entry,) = self.asked()
        return answered, entry

    def asked(self) -> list[dict[str, Any]]:
        entries = ask(f"{self.proxy.url}/api/history")["entries"]
        return [entry for entry in entries if entry["action"] != "pending"]

    def test_late(self) -> None:
        """The only test that runs answers what a page asks after its own, which the entry names."""
        answered, entry = self.ask_late("auto")
        self.assertEqual(len(answered), 1)
        facts = entry["title"], entry["late"], entry["action"]
        self.assertEqual(facts, ("over", True, "fulfill"))

    def test_late_required(self) -> None:
        """A test that requires isolation fails by such a request."""
        with self.assertRaisesRegex(ExceptionGroup, "came without"):
            self.ask_late("required")

    def test_late_without_contexts(self) -> None:
        """Without contexts the other test answers it, so this can fail."""
        answered, entry = self.ask_late("off")
        self.assertEqual((len(answered), entry["title"]), (1, "runs"))

    def wait_until_queued(self) -> None:
        for _ in range(POLLS):
            if page(self.front, {}, "waiting") == "1":
                return
        self.fail("no request waits for its turn")

    def test_right_context_is_not_told(self) -> None:
        """Where nobody waits in the queue each has its own, and the report names nobody."""
        with (
            self.assertRaises(ValueError) as failed,
            sync.mocks(self.proxy.url, title="A", isolation="required") as first,
            sync.mocks(self.proxy.url, title="B", isolation="required") as second,
        ):
            for mocks, body in ((first, "of A"), (second, "of B")):
                mocks.mock("**/price", body=body)
                self.assertEqual(page(self.front, mocks.headers, "queued"), body)
            raise ValueError("for the report")
        self.assertNotIn("was made for test", "\n".join(failed.exception.__notes__))

    def test_wrong_context_is_told(self) -> None:
        """A queue gives the request of one test the context of another: the report says whose."""
        came, go_on = threading.Event(), threading.Event()

        def hold(route: Any) -> None:
            came.set()
            assert go_on.wait(SECONDS)
            route.fulfill(body="of A")

        def load(mocks: sync.TrafficMock) -> str:
            return page(self.front, mocks.headers, "queued")

        with (
            ThreadPoolExecutor(2) as pool,
            sync.mocks(self.proxy.url, title="A", isolation="required") as first,
            self.assertRaises(ValueError) as failed,
            sync.mocks(self.proxy.url, title="B", isolation="required") as second,
        ):
            first.route("**/price", hold)
            second.route("**/price", lambda route: route.fulfill(body="of B"))
            loads = [pool.submit(load, first)]
            self.assertTrue(came.wait(SECONDS))
            loads.append(pool.submit(load, second))
            self.wait_until_queued()
            go_on.set()
            self.assertEqual([each.result() for each in loads], ["of A", "of A"])
            raise ValueError("of A is not of B")
        report = "\n".join(failed.exception.__notes__)
        told = "price (client trafficmock-agent, 2 times): matches, but was made for the test 'A'"
        self.assertIn(told, report)
