"""Libraries that are given a proxy, under the preload: only trafficmock's is left out."""

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.test_services import clean
from tests.support.processes.proxy_process import start_proxy
from tests.support.threaded_server import threaded_server
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync

PROGRAM = Path(__file__).parent / "given_proxy_calls.py"
LIBRARIES = [
    "requests",
    "requests_session",
    "httpx",
    "httpx_async",
    "httpx_transport",
    "aiohttp",
    "urllib3",
    "urllib3_pool",
    "urllib_handler",
    "urllib_request",
    "http_client",
]


class OtherProxy(BaseHTTPRequestHandler):
    """A proxy that answers itself."""

    def do_GET(self) -> None:
        """Answer with a status that no other server has."""
        self.send_response(299 if self.path.startswith("http:") else 500)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


class GivenProxyTests(SynchronousTestCase):
    """A program may read ``HTTPS_PROXY`` and give that to its library, as Algolia's client does."""

    def setUp(self) -> None:
        self.proxy = start_proxy("--ca-dir", str(Path(self.mktemp()).absolute()))
        self.addCleanup(self.proxy.stop)

    def outcomes(self, proxy: str, *urls: str, **variables: str) -> list[list[str]]:
        preload = {"PYTHONPATH": str(DIRECTORY), "TRAFFICMOCK_PROXY_URL": self.proxy.url}
        done = subprocess.run(
            [sys.executable, str(PROGRAM), proxy, *urls],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env={**clean(), **preload, **variables},
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_of_trafficmock(self) -> None:
        """Its requests are mocked, and fail as without a proxy."""
        urls = ("http://third.test/mocked", "https://third.test/mocked")
        aborted = ("http://third.test/refused", "https://third.test/refused")
        with sync.mocks(self.proxy.url) as mocks:
            mocks.route("**/mocked", lambda route: route.fulfill(status=211))
            mocks.route("**/refused", lambda route: route.abort("connectionrefused"))
            found = self.outcomes(self.proxy.url, *urls, *aborted)
        errors = {
            "requests": "ConnectionError",
            "requests_session": "ConnectionError",
            "httpx": "ConnectError",
            "httpx_async": "ConnectError",
            "httpx_transport": "ConnectError",
            "aiohttp": "ClientConnectorError",
            "urllib3": "NewConnectionError",
            "urllib3_pool": "NewConnectionError",
            "urllib_handler": "URLError",
            "urllib_request": "URLError",
            "http_client": "ConnectionRefusedError",
        }
        self.assertEqual([name for name, _, _ in found[::4]], LIBRARIES)
        for index, (name, error, text) in enumerate(found):
            if (name, index % 4) == ("http_client", 2):
                # A request in absolute form to the proxy itself is one of any program.
                continue
            wanted = ("", "211") if index % 4 < len(urls) else (errors[name], text)
            self.assertEqual((error, text), wanted, name)

    def test_direct(self) -> None:
        """A host that the preload leaves alone goes to that proxy, as the program says."""
        with sync.mocks(self.proxy.url) as mocks:
            mocks.route("**", lambda route: route.fulfill(status=211))
            found = self.outcomes(self.proxy.url, "http://third.test/", NO_PROXY="third.test")
        # urllib's handler reads NO_PROXY itself.
        found = [each for each in found if each[0] != "urllib_handler"]
        wanted = [name for name in LIBRARIES if name != "urllib_handler"]
        self.assertEqual(found, [[name, "", "211"] for name in wanted])

    def test_of_others(self) -> None:
        """Another proxy is kept."""
        with threaded_server(OtherProxy) as port:
            found = self.outcomes(f"http://127.0.0.1:{port}", "http://third.test/")
        self.assertEqual(found, [[name, "", "299"] for name in LIBRARIES])
