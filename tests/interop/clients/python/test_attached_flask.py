"""``trafficmock run -- python app.py``: a Flask server that calls a third party by urllib3."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import running_proxy
from tests.support.threaded_server import threaded_server
from tests.testing import runs
from trafficmock.testing import sync
from trafficmock.testing.sync import TrafficMock

APPLICATION = Path(__file__).parent / "flask_application.py"
LOADS = 4


class Upstream(BaseHTTPRequestHandler):
    """Keeps the headers that arrive."""

    arrived: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Answer."""
        self.arrived.append(str(self.headers))
        self.send_response(200)
        self.send_header("Content-Length", "8")
        self.end_headers()
        self.wfile.write(b"upstream")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


def answering(body: str) -> Any:
    return lambda route: route.fulfill(body=body)


def sending(text: str) -> Any:
    return lambda socket: socket.send(text)


class FlaskTests(SynchronousTestCase):
    """Nothing of ours is in the application, and nothing in its environment but our variables."""

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.port = stack.enter_context(threaded_server(Upstream))
        data = str(Path(self.mktemp()).absolute())
        proxy = stack.enter_context(
            running_proxy(
                f"--resolve=third.test:{self.port}:127.0.0.1",
                f"--ca-dir={data}/trafficmock/ca",
            )
        )
        words = ["env", "TRAFFICMOCK_WEBSOCKET=all", sys.executable, str(APPLICATION)]
        child = runs.attached(proxy.url, words, "--client-id", "shop", data=data)
        stack.callback(child.stop)
        self.proxy = proxy
        self.url = str(child.announced()["url"])
        self.tests = [stack.enter_context(sync.mocks(proxy.url)) for _ in range(2)]

    def load(self, test: TrafficMock, url: str, page: str = "page") -> str:
        request = Request(f"{self.url}/{page}?url={quote(url)}", headers=test.headers)  # noqa: S310 - loopback
        with build_opener(ProxyHandler({})).open(request, timeout=60) as answer:
            body: str = answer.read().decode()
            return body

    def test_each_its_own(self) -> None:
        """Tests that mock the same URLs at once each get their own, and the server sees nothing."""
        for number, test in enumerate(self.tests):
            test.route("**/mocked", answering(f"of {number}"))
            test.route_web_socket("**/mocked", sending(f"of {number}"))
        for page, url in (
            ("page", "http://third.test/mocked"),
            ("page", "https://third.test/mocked"),
            ("streamed", "http://third.test/mocked"),
            ("socket", "ws://third.test/mocked"),
            ("socket", "wss://third.test/mocked"),
        ):
            with ThreadPoolExecutor(2 * LOADS) as pool:
                asked = [
                    (number, pool.submit(self.load, test, url, page))
                    for _ in range(LOADS)
                    for number, test in enumerate(self.tests)
                ]
            times = 2 if page == "streamed" else 1
            for number, loaded in asked:
                self.assertEqual(loaded.result(), times * f"of {number}")
        through = f"http://third.test:{self.port}/through"
        self.assertEqual(self.load(self.tests[0], through), "upstream")
        (arrived,) = Upstream.arrived
        self.assertNotIn("trafficmock", arrived.replace("1.1 trafficmock", "").lower())
        entry = self.proxy.get("/api/history?limit=1")["entries"][0]
        self.assertEqual((entry["clientId"], entry["hasContext"]), ("shop", True))

    def test_aborted(self) -> None:
        """An abort is the error that urllib3 makes where no server listens, over both schemes."""
        self.tests[0].route("**/aborted", lambda route: route.abort("connectionrefused"))
        for scheme in ("http", "https"):
            said = self.load(self.tests[0], f"{scheme}://third.test/aborted")
            self.assertTrue(said.startswith("NewConnectionError: "), said)
            self.assertIn("[Errno 111] Connection refused", said)
