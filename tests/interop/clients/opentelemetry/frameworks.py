"""What the frameworks have to do, whatever carries the context in them."""

import base64
import os
import secrets
import socketserver
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

from attrs import define, field
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import running_proxy
from tests.support.raw_client import RawClient
from tests.support.threaded_server import threaded_server

SECONDS = 60.0
HOST = "upstream.test"
DEEP = bool(os.environ.get("TRAFFICMOCK_DEEP"))
TESTS, LOADS = (6, 15) if DEEP else (4, 5)
PATIENT = (
    "--claim-timeout-ms=60000",
    "--heartbeat-ms=3600000",
    "--idle-timeout-ms=7200000",
)
"""Workers that answer no pings, however long a page takes."""


class Capture(socketserver.StreamRequestHandler):
    """Keeps every byte that arrives."""

    arrived: ClassVar[list[bytes]] = []

    def setup(self) -> None:
        """Read by way of ourselves."""
        super().setup()
        read = self.rfile.readline

        def readline(size: int = -1) -> bytes:
            line = read(size)
            self.arrived.append(line)
            return line

        self.rfile.readline = readline  # type: ignore[method-assign, assignment]


class Upstream(Capture, BaseHTTPRequestHandler):
    """Says which headers it was sent; a request is lines alone, and all of them are kept."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        body = " | ".join(f"{name}: {value}" for name, value in self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


@define
class OneTest:
    """A test that answers what reaches it with a token of its own.

    :param isolated: it has claimed the context that its page loads carry.
    """

    worker: RawClient
    isolated: bool = True
    token: str = field(factory=lambda: secrets.token_hex(16))

    def register(self) -> None:
        """Mock the URL that all tests mock."""
        self.worker.hello("playwright", workerId=self.token, features=["context", "subscribe"])
        test = {"testId": self.token, "title": "T", "file": "t", "workerId": self.token}
        context = {"context": self.token} if self.isolated else {}
        self.worker.send(type="test:register", **test, **context)
        matcher = {"urlGlob": f"http://{HOST}:*/mocked"}
        self.worker.send(
            type="route:register", routeId=self.token, testId=self.token, matcher=matcher
        )
        for expected in ("test:registered", "route:registered"):
            said = self.worker.receive()
            assert said["type"] == expected, said

    def answer(self, number: int) -> None:
        """Answer so many requests."""
        body = base64.b64encode(self.token.encode()).decode()
        response = {"status": 200, "statusText": "", "headers": {}, "bodyBase64": body}
        for _ in range(number):
            matched = self.worker.receive()
            assert matched["type"] == "request:matched", matched
            result = {"action": "fulfill", "response": response}
            self.worker.send(type="handler:result", requestId=matched["requestId"], result=result)

    def load_often(self, page: str) -> list[str]:
        return [self.load(page) for _ in range(LOADS)]

    def load(self, page: str) -> str:
        """Load a page as the browser of this test does."""
        headers = {
            "baggage": f"trafficmock.test={self.token},a=b",
            "traceparent": f"00-{self.token}-b7ad6b7169203331-01",
        }
        request = urllib.request.Request(page, headers=headers)  # noqa: S310 - loopback
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - loopback
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            return f"{error.code}\n"


class FrameworkCase(SynchronousTestCase):
    """Parallel tests that mock the same URL of one server.

    :cvar traces: whether the application has traces of its own.
    """

    traces = True

    def start(self, framework: str, proxy_url: str, urls: list[str]) -> Child:
        """Start the application of a framework."""
        raise NotImplementedError

    @contextmanager
    def application(
        self, framework: str, *, isolated: bool = True
    ) -> Iterator[tuple[str, list[OneTest]]]:
        """Run a framework's server behind a proxy, with some tests; give its page."""
        with (
            threaded_server(Upstream) as port,
            running_proxy(f"--resolve={HOST}:{port}:127.0.0.1", *PATIENT) as proxy,
        ):
            urls = [f"http://{HOST}:{port}/{path}" for path in ("mocked", "through")]
            server = self.start(framework, proxy.url, urls)
            tests = [OneTest(RawClient.connect(proxy.url), isolated) for _ in range(TESTS)]
            try:
                for test in tests:
                    test.register()
                yield f"http://127.0.0.1:{server.announced()['port']}/page", tests
            finally:
                for test in tests:
                    test.worker.close()
                server.stop()

    def check(self, framework: str, *, baggage: bool = True) -> None:
        """Let all tests load pages at once; each must see its own token, the upstream none.

        :param baggage: whether the instrumentation passes baggage on, too.
        """
        Upstream.arrived.clear()
        with self.application(framework) as (page, tests), ThreadPoolExecutor(2 * TESTS) as pool:
            answering = [pool.submit(test.answer, LOADS) for test in tests]
            loading = [pool.submit(test.load_often, page) for test in tests]
            pages = [each.result(5 * SECONDS) for each in loading]
            for each in answering:
                each.result(5 * SECONDS)
        captured = b"".join(Upstream.arrived)
        self.assertEqual(captured.count(b"GET /through "), TESTS * LOADS)
        self.assertNotIn(b"trafficmock.test", captured)
        for test in tests:
            self.assertNotIn(test.token.encode(), captured)
        self.assertEqual(captured.count(b"a=b"), TESTS * LOADS if baggage else 0)
        for test, seen in zip(tests, pages, strict=True):
            for text in seen:
                mocked, sent = text.split("\n")
                self.assertEqual(mocked, test.token)
                self.assertNotIn("trafficmock.test", sent)
                self.assertEqual("baggage: a=b" in sent, baggage, sent)
                if self.traces:
                    # The id of the trace is that of the context: others get another one.
                    self.assertRegex(sent, r"traceparent: 00-[0-9a-f]{32}-")
