"""Requests with 10,000 ids that no test has leave nothing behind, neither here nor there."""

import json
import os
import secrets
import signal
import sys
from contextlib import ExitStack
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.agent.test_deep import VERSIONS, node
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.process_usage import memory
from tests.support.processes.proxy_process import ProxyProcess, start_proxy, until
from tests.support.threaded_server import threaded_server
from tests.testing import runs
from trafficmock.testing.sync import mocks

APP = runs.REPOSITORY / "agent" / "test" / "apps" / "many-ids.cjs"
COUNT = 10_000
LEGS = 5
CONTEXT_MS = 300
MIB = 2**20
CARRIERS = (
    lambda id_: {"baggage": f"trafficmock.test={id_}"},
    lambda id_: {"cookie": f"trafficmock_test={id_}"},
    lambda id_: {"traceparent": f"00-{id_}-00f067aa0ba902b7-01"},
)


class Handler(BaseHTTPRequestHandler):
    """The third party."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together
    seen: set[str]

    def do_GET(self) -> None:
        self.seen.add(self.headers["traceparent"] or "")
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Nothing."""


class ManyIdsCase(SynchronousTestCase):
    """What is held after requests with ids that no test has."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def setUp(self) -> None:
        self.tables = Path(self.mktemp()).absolute()
        Handler.seen = set()
        self.stack = ExitStack()
        self.addCleanup(self.stack.close)

    def started(self, *options: str) -> ProxyProcess:
        """Start a service that lists what it holds."""
        watched = (sys.executable, "-m", "tests.support.processes.watched_proxy", "serve")
        env = {"TEST_TABLES": str(self.tables)}
        proxy = start_proxy("--history-limit", "100", *options, command=watched, env=env)
        self.stack.callback(proxy.stop)
        return proxy

    def held(self, proxy: ProxyProcess) -> dict[str, Any]:
        """List what the coordinator holds, but for what comes with a connection."""
        self.tables.unlink(missing_ok=True)
        os.kill(proxy.pid, signal.SIGUSR2)
        until(self.tables.exists, proxy.process, proxy.output)
        found: dict[str, Any] = json.loads(self.tables.read_text(encoding="utf-8"))
        return found


class AgentTests(ManyIdsCase):
    """An attached application, its agent and the coordinator, as processes of their own."""

    def leg(self, application: HTTPConnection, count: int) -> set[str]:
        """Send requests with ids of their own in turn; give the ids."""
        ids = {secrets.token_hex(16) for _ in range(count)}
        for number, each in enumerate(ids):
            application.request("GET", "/ask", headers=CARRIERS[number % 3](each))
            answer = application.getresponse()
            self.assertEqual((answer.status, answer.read()), (200, b"asked"))
        return ids

    def remembered(self, application: HTTPConnection) -> dict[str, int]:
        """Ask how many contexts the agent has in its tables, and for the bytes of its heap."""
        application.request("GET", "/remembered")
        tables: dict[str, int] = json.load(application.getresponse())
        return tables

    def emptied(self, application: HTTPConnection, proxy: ProxyProcess) -> int:
        """Wait until the agent remembers nobody; give the bytes of its heap."""
        heap: list[int] = []

        def is_empty() -> bool:
            remembered = self.remembered(application)
            heap.append(remembered["bytes"])
            return bool(remembered["known"] == remembered["closed"] == 0)

        until(is_empty, proxy.process, proxy.output)
        # Weak references and finalizers need one collection more.
        self.assertTrue(is_empty())
        return min(heap[-2:])

    def run_node(self, binary: str) -> None:
        with ExitStack() as stack:
            proxy = self.started()
            upstream = stack.enter_context(threaded_server(Handler))
            variables = [f"UPSTREAM={upstream}", f"TRAFFICMOCK_CONTEXT_MS={CONTEXT_MS}"]
            command = ["env", *variables, binary, "--expose-gc", str(APP)]
            data = str(Path(self.mktemp()).absolute())
            child = runs.attached(proxy.url, command, data=data)
            stack.callback(child.stop)
            application = HTTPConnection(urlsplit(child.announced()["url"]).netloc, timeout=60)
            stack.callback(application.close)
            self.leg(application, COUNT // LEGS)  # warms up
            # The tables that are empty below are those that ids come into.
            self.assertGreater(self.remembered(application)["closed"], 0)
            heaps = [self.emptied(application, proxy)]
            before = self.held(proxy)
            resident = [memory(proxy.pid).resident]
            ids: set[str] = set()
            for _ in range(LEGS):
                ids |= self.leg(application, COUNT // LEGS)
                heaps.append(self.emptied(application, proxy))
                resident.append(memory(proxy.pid).resident)
            self.assertEqual(self.held(proxy), before)
            self.assertLess((heaps[-1] - heaps[0]) / MIB, 1, heaps)
            self.assertLess((resident[-1] - resident[0]) / MIB, 8, resident)
            self.assertEqual(len(ids), COUNT)
            self.assertEqual([each for each in Handler.seen if each[3:35] in ids], [])
            with mocks(proxy.url):
                # The id of a test that runs is held.
                self.assertNotEqual(self.held(proxy), before)

    def test_many_ids(self) -> None:
        """The heap and the tables are as they were before, on every Node."""
        for version in VERSIONS:
            self.run_node(node(version))


class ForwardProxyTests(ManyIdsCase):
    """A client of the forward proxy."""

    def leg(self, connection: HTTPConnection, url: str, count: int, status: int) -> None:
        """Send requests with ids of their own in turn."""
        for number in range(count):
            id_ = secrets.token_hex(16)
            self.ids.add(id_)
            connection.request("GET", f"{url}/{number}", headers=CARRIERS[number % 3](id_))
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, status)

    def run_service(self, status: int, *options: str) -> None:
        self.ids: set[str] = set()
        upstream = self.stack.enter_context(threaded_server(Carried))
        resolve = ("--resolve", f"third.test:{upstream}:127.0.0.1")
        proxy = self.started(*resolve, *options)
        connection = HTTPConnection(urlsplit(proxy.url).netloc, timeout=60)
        self.stack.callback(connection.close)
        url = f"http://third.test:{upstream}"
        self.leg(connection, url, 2 * COUNT // LEGS, status)  # warms up
        before, resident = self.held(proxy), [memory(proxy.pid).resident]
        for _ in range(LEGS):
            self.leg(connection, url, COUNT // LEGS, status)
            resident.append(memory(proxy.pid).resident)
        self.assertEqual(self.held(proxy), before)
        self.assertLess((resident[-1] - resident[0]) / MIB, 8, resident)
        self.assertGreater(len(self.ids), COUNT)
        self.assertEqual([each for each in Handler.seen if "trafficmock" in each], [])

    def test_passed(self) -> None:
        """The tables and the memory are as before, and no id reaches the server."""
        self.run_service(200)
        self.assertEqual(len(Handler.seen), 1)

    def test_refused(self) -> None:
        """The same where everything is refused: the list of refused requests is bounded."""
        self.run_service(403, "--strict")
        self.assertEqual(Handler.seen, set())


class Carried(Handler):
    """A third party that looks for what carries a test's id."""

    def do_GET(self) -> None:
        self.seen.add(f"{self.headers['baggage']} {self.headers['cookie']}")
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
