"""A proxy that ends while a request waits: the application's error says who is gone."""

import json
import os
import socket
import struct
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.test_services import clean
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import free_port
from tests.support.threaded_server import threaded_server
from trafficmock.attach.python_preload import DIRECTORY

PROGRAM = Path(__file__).parent / "library_calls.py"
USUAL = ("http_client", "urllib3")
LIBRARIES = (*USUAL, "requests", "httpx", "httpx_async", "aiohttp", "treq")


class HangsUp(BaseHTTPRequestHandler):
    """A proxy that opens a tunnel, and a server: it ends at the first request."""

    def do_CONNECT(self) -> None:
        """Open a tunnel that the proxy reads; plain HTTP within needs no certificate."""
        self.wfile.write(
            b"HTTP/1.1 200 Connection established\r\nTrafficmock-Authority: AAAA\r\n\r\n"
        )
        self.handle_one_request()

    def do_GET(self) -> None:
        """Hang up and listen no more, as the system does for a process that ends."""
        listener: Any = self.server
        listener.socket.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


class Resets(HangsUp):
    """The same, where the process has not read all that was sent to it."""

    def do_GET(self) -> None:
        """Reset the connection."""
        super().do_GET()
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        os.close(self.connection.detach())


class LostProxyTests(SynchronousTestCase):
    """The error is that of a server that hangs up; its text names trafficmock."""

    def outcomes(self, url: str, *libraries: str, **variables: str) -> list[list[str]]:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), url, *libraries],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env={**clean(), **variables},
        )
        self.assertEqual(done.stderr, "")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def check(self, proxy: type[HangsUp], *libraries: str) -> None:
        for name in libraries:
            with threaded_server(proxy) as port:
                ((wanted, _),) = self.outcomes(f"http://127.0.0.1:{port}/", name)
            with threaded_server(proxy) as port:
                place = f"127.0.0.1:{port}"
                preload = {"PYTHONPATH": str(DIRECTORY), "TRAFFICMOCK_PROXY_URL": f"http://{place}"}
                ((error, text),) = self.outcomes("http://third.test/", name, **preload)
            self.assertEqual(error, wanted, name)
            # aiohttp sends the request once more, and finds nobody.
            end = "cannot be reached" if name == "aiohttp" else "closed the connection without an"
            self.assertIn(f"trafficmock at {place} {end}", text, name)
            self.assertIn("(trafficmock serve)", text, name)

    def test_closed(self) -> None:
        """The connection ends."""
        self.check(HangsUp, *(LIBRARIES if DEEP else USUAL))

    def test_reset(self) -> None:
        """The connection is reset."""
        self.check(Resets, *LIBRARIES)

    def test_gone(self) -> None:
        """Nobody listens any more."""
        port = free_port()
        preload = {
            "PYTHONPATH": str(DIRECTORY),
            "TRAFFICMOCK_PROXY_URL": f"http://127.0.0.1:{port}",
        }
        for error, text in self.outcomes("http://third.test/", *LIBRARIES, **preload):
            self.assertIn(f"trafficmock at 127.0.0.1:{port} cannot be reached (", text, error)
            self.assertIn(
                "Start it (trafficmock serve), or start the application with", text, error
            )

    if not DEEP:
        for each in (test_reset, test_gone):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
