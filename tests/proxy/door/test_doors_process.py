"""A door of the running service."""

from __future__ import annotations

import socket
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler

from twisted.trial.unittest import SynchronousTestCase

from tests.support.proxy_process import running_proxy
from tests.support.raw_client import RawClient
from tests.support.threaded_server import threaded_server
from tests.support.waiting import wait_until

CONTEXT = "1" * 32
SECONDS = 60.0
PATIENT = ("--heartbeat-ms=3600000", "--idle-timeout-ms=7200000")
"""The worker answers no pings."""


class Application(BaseHTTPRequestHandler):
    """Says what context a request carries."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(self.headers["baggage"]).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


def is_closed(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


class ProcessTests(SynchronousTestCase):
    """From the registration of a test to its end."""

    def ask(self, port: int, url: str) -> bytes:
        """Ask for a URL through the proxy at a port."""
        client = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        client.request("GET", url)
        body = client.getresponse().read()
        client.close()
        return body

    def test_life(self) -> None:
        """It is open when the test hears of it, stamps, records nothing, and ends with the test."""
        with threaded_server(Application) as port, running_proxy(*PATIENT) as proxy:
            worker = RawClient.connect(proxy.url)
            worker.hello("playwright", workerId="0", features=["context"])
            test = {"testId": "t", "title": "T", "file": "t", "workerId": "0"}
            worker.send(type="test:register", context=CONTEXT, door={}, **test)
            registered = worker.receive()
            self.assertEqual(registered["type"], "test:registered")
            door = registered["doorPort"]
            url = f"http://localhost:{port}/"
            self.assertEqual(self.ask(door, url), b"trafficmock.test=" + CONTEXT.encode())
            self.assertEqual(proxy.get("/api/history")["entries"], [])
            self.assertIn(b"misdirected_request", self.ask(door, "/"))
            worker.send(type="test:unregister", testId="t")
            self.assertEqual(worker.receive()["type"], "test:unregistered")
            wait_until(lambda: is_closed(door), "the end of the door")
            worker.close()
