"""Whose request it is behind a second service, and how a lost context is told."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.tested_proxy import start_proxy
from tests.testing import runs
from tests.testing.parallel.samples.on_two_servers import page
from tests.testing.row_context import ask
from trafficmock.testing import sync

FRONT = runs.REPOSITORY / "agent" / "test" / "apps" / "front.mjs"
FLASK = runs.APPLICATIONS / "pages_flask.py"
INSTRUMENT = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
QUIET = ("OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none")
TESTS = 4
SECONDS = 60.0
POLLS = 5000


class TwoServicesTests(SynchronousTestCase):
    """A Node server that asks a Flask server, both attached."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.proxy = start_proxy([])
        stack.callback(self.proxy.stop)
        data = str(Path(self.mktemp()).absolute())
        flask = ["env", *QUIET, sys.executable, "-c", INSTRUMENT, sys.executable, str(FLASK)]
        back = runs.attached(self.proxy.url, flask, "--no-agent", data=data)
        stack.callback(back.stop)
        node = shutil.which("node") or "node"
        command = ["env", f"BACK={back.announced()['url']}", node, str(FRONT)]
        front = runs.attached(self.proxy.url, command, data=data)
        stack.callback(front.stop)
        self.front = front.announced()["url"]

    def test_owned(self) -> None:
        """What the second service asks belongs to the test whose page it is for."""

        def load(token: str) -> str:
            def fulfill(route: Any) -> None:
                assert mocks.id is not None
                assert mocks.id not in json.dumps(route.request.headers)
                route.fulfill(body=token)

            with sync.mocks(self.proxy.url, title=token, isolation="required") as mocks:
                mocks.route("http://third.test/**", fulfill)
                return page(self.front, mocks.headers)

        tokens = [secrets.token_hex(8) for _ in range(TESTS)]
        with ThreadPoolExecutor(TESTS) as pool:
            pages = list(pool.map(load, tokens))
        self.assertEqual(pages, [" ".join([token] * 3) for token in tokens])
        entries = ask(f"{self.proxy.url}/api/history?limit=1000")["entries"]
        self.assertNotIn("ambiguous_route", json.dumps(entries))

    def wait_until_queued(self) -> None:
        for _ in range(POLLS):
            if page(self.front, {}, "waiting") == "1":
                return
        self.fail("no request waits for its turn")

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
        told = "GET http://third.test/price matches it, but was made for test 'A' (2 times)"
        self.assertIn(told, report)
