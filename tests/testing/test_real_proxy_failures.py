"""Failures with a real proxy and application: nothing hangs, and each error says what failed."""

import os
import signal
import sys
import threading
import uuid
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.child_process import Child
from tests.support.processes.tested_proxy import start_proxy
from tests.testing import runs
from tests.testing.row_context import control
from tests.testing.shared_app import shared_app
from trafficmock.testing import sync
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.errors import AlreadyHandledError, ConnectionLostError, WaitTimeoutError
from trafficmock.testing.objects.blocking.traffic_mock import finish
from trafficmock.testing.session.session import TestInfo

MANY = 1000
LARGE = 50 * 2**20
NEVER = """
import sys, threading
from trafficmock.testing import sync
with sync.mocks(sys.argv[1]) as mocks:
    def never(route):
        print('{}', flush=True)
        threading.Event().wait()
    mocks.route(sys.argv[2], never)
    print('{}', flush=True)
    sys.stdin.read()
"""


class RealProxyFailureTests(SynchronousTestCase):
    """An application, its upstream and blocking tests."""

    def setUp(self) -> None:
        self.node_app = shared_app()
        self.url = f"{self.node_app.upstream_url}/echo/{uuid.uuid4().hex}"

    def control_app(self, action: str, **command: Any) -> Any:
        return control(self.node_app.app_url, action, {"kind": "http", "url": self.url, **command})

    def get(self, **command: Any) -> Any:
        return self.control_app("request", **command)

    def begin(self) -> str:
        """Let the application begin a request; give the key of its outcome."""
        key = uuid.uuid4().hex
        self.control_app("begin", key=key)
        return key

    def mocks(self) -> Any:
        return sync.mocks(self.node_app.proxy.url, title=self.id())

    def test_test_ends_before_the_handler(self) -> None:
        """A handler that blocks past its test's end fails the test, and keeps nobody waiting."""
        gate, started = threading.Event(), threading.Event()
        errors: list[BaseException] = []

        def blocks(route: sync.Route) -> None:
            started.set()
            gate.wait(20)
            try:
                route.fulfill(body="too late")
            except Exception as error:
                errors.append(error)
                raise

        with self.assertRaises(BaseExceptionGroup) as raised, self.mocks() as mocks:
            mocks.route(self.url, blocks)
            key = self.begin()
            started.wait(20)
        (error,) = raised.exception.exceptions
        self.assertRegex(str(error), r"before the handler \(test_real_proxy_failures\.py:\d+\)")
        outcome = self.control_app("outcome", key=key)
        self.assertNotIn("too late", str(outcome))
        gate.set()
        with self.mocks() as mocks:
            mocks.route(self.url, lambda route: route.fulfill(body="next"))
            self.assertEqual(self.get()["body"], "next")

    def test_blocked_handlers_block_nobody(self) -> None:
        """Beside handlers that block others run, and calls of the test are answered."""
        gate, started = threading.Event(), threading.Semaphore(0)

        def blocks(route: sync.Route) -> None:
            started.release()
            gate.wait(20)
            route.fulfill(body="at last")

        with self.mocks() as mocks:
            mocks.route(self.url, blocks, times=20)
            keys = [self.begin() for _ in range(20)]
            for _ in keys:
                self.assertTrue(started.acquire(timeout=20))
            mocks.route(self.url, lambda route: route.fulfill(body="beside"), times=1)
            self.assertEqual(self.get()["body"], "beside")
            gate.set()
            outcomes = [self.control_app("outcome", key=key)["body"] for key in keys]
        self.assertEqual(outcomes, ["at last"] * 20)

    def test_two_threads_decide(self) -> None:
        """Of decisions at the same moment one counts, and the other is an error."""
        both = threading.Barrier(2)
        outcomes: list[Any] = []

        def decide(route: sync.Route, body: str) -> None:
            both.wait(20)
            try:
                route.fulfill(body=body)
            except AlreadyHandledError as error:
                outcomes.append(error)
            else:
                outcomes.append(body)

        def handler(route: sync.Route) -> None:
            other = threading.Thread(target=decide, args=(route, "two"))
            other.start()
            decide(route, "one")
            other.join()

        with self.mocks() as mocks:
            mocks.route(self.url, handler)
            body = self.get()["body"]
            mocks.unroute_all(behavior="wait")
        self.assertEqual([each for each in outcomes if isinstance(each, str)], [body])
        self.assertEqual(len(outcomes), 2)

    def test_many_routes(self) -> None:
        """A thousand handlers are found newest first, and all are gone at the end."""
        with self.mocks() as mocks:
            for number in range(MANY):
                mocks.route(f"{self.url}/{number}", self.answers(f"number {number}"))
            for number in (0, MANY // 2, MANY - 1):
                body = self.get(url=f"{self.url}/{number}")["body"]
                self.assertEqual(body, f"number {number}")
            mocks.unroute_all()
            self.assertIn('"path"', self.get(url=f"{self.url}/1")["body"])

    def answers(self, body: str) -> Any:
        return lambda route: route.fulfill(body=body)

    def test_any_script(self) -> None:
        """Bodies in any script come through; a URL that was not encoded is explained."""
        url, encoded = f"{self.url}/grün?ö", f"{self.url}/gr%C3%BCn?%C3%B6"
        with self.mocks() as mocks:
            mocks.route(encoded, self.answers("茶 🫖"))
            with mocks.expect_request(encoded) as info:
                self.assertEqual(
                    self.get(url=url, method="POST", body="größer 🫖")["body"], "茶 🫖"
                )
            self.assertEqual(info.value.url, encoded)
            self.assertEqual(info.value.post_data, "größer 🫖")
            with self.assertRaisesRegex(WaitTimeoutError, "percent-encoded"):
                mocks.wait_for_request(url, timeout=1)

    def test_large_bodies(self) -> None:
        """50 MB go either way."""
        with self.mocks() as mocks:
            sizes: list[int] = []

            def handler(route: sync.Route) -> None:
                sizes.append(len(route.request.post_data_buffer or b""))
                route.fulfill(body=b"a" * LARGE)

            mocks.route(self.url, handler)
            outcome = self.get(method="POST", body="b" * LARGE)
        self.assertEqual(sizes, [LARGE])
        self.assertEqual(outcome["bodyLength"], LARGE)

    def test_worker_is_killed(self) -> None:
        """The request that a killed test process had not decided fails; later ones pass through."""
        argv = [sys.executable, "-c", NEVER, self.node_app.proxy.url, self.url]
        child = Child.start("a test", argv, env={"PYTHONPATH": str(runs.REPOSITORY)})
        self.addCleanup(child.stop)
        child.announced()
        key = self.begin()
        child.announced()
        child.process.send_signal(signal.SIGKILL)
        self.assertIn("error", self.control_app("outcome", key=key))
        self.assertIn('"path"', self.get()["body"])

    def test_proxy_restarts(self) -> None:
        """Every call after the proxy's restart fails, and so does the test's end."""
        proxy = start_proxy([])
        connection = ThreadedConnection(proxy.url)
        self.addCleanup(connection.close)
        mocks, _ = sync.begin(connection, TestInfo(title="t", file="f"))
        expectation = mocks.expect_request("**/never", timeout=0)
        os.kill(proxy.process.pid, signal.SIGKILL)
        proxy.stop()
        port = proxy.url.rpartition(":")[2]
        again = start_proxy(["--port", port])
        self.addCleanup(again.stop)
        for call in (
            lambda: expectation.value,
            lambda: mocks.route("**/x", print),
            mocks.requests,
            mocks.take_errors,
        ):
            with self.assertRaisesRegex(ConnectionLostError, "lost the connection"):
                call()
        (error,) = finish(mocks)
        self.assertIsInstance(error, ConnectionLostError)

    def test_next_test_after_a_restart(self) -> None:
        """A test after the proxy's restart connects anew; while it is away each one fails.

        A strict run is so again by its connection.
        """
        proxy = start_proxy([])
        port = proxy.url.rpartition(":")[2]
        connection = ThreadedConnection(proxy.url)
        self.addCleanup(connection.close)
        connection.make_run_strict(["a.test"])
        os.kill(proxy.process.pid, signal.SIGKILL)
        proxy.stop()
        for _ in range(2):
            with self.assertRaisesRegex(ConnectionLostError, "no trafficmock proxy"):
                connection.refresh()
        again = start_proxy(["--port", port])
        self.addCleanup(again.stop)

        connection.refresh()
        (row,) = again.get("/api/connections")["runnerWorkers"]
        self.assertEqual(row["strict"]["allow"], ["a.test"])
        mocks, _ = sync.begin(connection, TestInfo(title="next", file="f"))
        mocks.route("**/x", print)
        self.assertEqual(mocks.requests(), [])
        self.assertEqual(finish(mocks), [])
        background = connection.background
        connection.refresh()
        self.assertIs(connection.background, background)
