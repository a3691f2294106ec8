"""A browser proxy of the running service."""

import contextlib
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

from attrs import define
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import NO_PINGS, TWISTD, ProxyProcess, running_proxy
from tests.support.raw_client import RawClient
from tests.support.threaded_server import threaded_server
from tests.support.waiting import wait_until

CONTEXT = "1" * 32
MEMBER = b"trafficmock.test=" + CONTEXT.encode()
SECONDS = 60.0
FILES = 128
LIMITED = "sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh"
FEW_FILES = (*LIMITED, *TWISTD, "-n", "trafficmock")
"""Runs the service with few open files."""
TOKEN = "a-token-of-sixteen-characters"


class Application(BaseHTTPRequestHandler):
    """Says what context a request carries; as a proxy, too.

    ``/stream`` sends one event, and the next when the first was received. ``/upload`` says when
    the first byte of its body has come.
    """

    received: ClassVar[threading.Event]

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()
        if self.path.endswith("/stream"):
            self.wfile.write(b"data: first\n\n")
            self.received.wait(SECONDS)
            with contextlib.suppress(ConnectionError):  # the browser proxy may have ended
                self.wfile.write(b"data: second\n\n")
        else:
            self.wfile.write(f"{self.path} {self.headers['baggage']}".encode())

    def do_POST(self) -> None:
        """Read the body, and answer with it."""
        body = self.rfile.read(1)
        self.received.set()
        body += self.rfile.read(int(self.headers["Content-Length"]) - 1)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


def is_closed(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


@define
class RunningBrowserProxy:
    """A running service with one test, which has a browser proxy.

    :param url: of the application.
    """

    url: str
    proxy: ProxyProcess
    worker: RawClient
    port: int

    def end(self) -> None:
        """End the test; it has ended when its worker hears of it."""
        self.worker.send(type="test:unregister", testId="t")
        said = self.worker.receive()
        assert said["type"] == "test:unregistered", said


@contextlib.contextmanager
def opened(*options: str, **application: Any) -> Iterator[RunningBrowserProxy]:
    """Open a browser proxy, for an application that runs.

    :param options: of the service.
    :param application: what the test says of it.
    """
    Application.received = threading.Event()
    with threaded_server(Application) as port, running_proxy(*NO_PINGS, *options) as proxy:
        worker = RawClient.connect(proxy.url)
        token = {"token": TOKEN} if f"--token={TOKEN}" in options else {}
        worker.hello("playwright", workerId="0", features=["context"], **token)
        test = {"testId": "t", "title": "T", "file": "t", "workerId": "0"}
        worker.send(type="test:register", context=CONTEXT, door=application, **test)
        registered = worker.receive()
        assert registered["type"] == "test:registered", registered
        yield RunningBrowserProxy(
            f"http://localhost:{port}/", proxy, worker, registered["doorPort"]
        )
        worker.close()


class ProcessTests(SynchronousTestCase):
    """From the registration of a test to its end."""

    def ask(self, port: int, url: str, **headers: str) -> bytes:
        """Ask for a URL through the proxy at a port."""
        client = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        client.request("GET", url, headers=headers)
        body = client.getresponse().read()
        client.close()
        return body

    def test_service(self) -> None:
        """It leads to nothing on the port of the service: the page sees its connection fail."""
        everywhere = "--host", "0.0.0.0", "--insecure"  # noqa: S104 - what is tested
        for options in (everywhere, ()):
            with opened(*options) as running:
                url = running.proxy.url
                with self.assertRaises(ConnectionError):
                    self.ask(running.port, f"{url}/api/history")
                place = url.removeprefix("http://")
                with socket.create_connection(("127.0.0.1", running.port), SECONDS) as tunnel:
                    tunnel.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
                    with contextlib.suppress(ConnectionError):
                        answer = tunnel.recv(1000)
                        tunnel.sendall(b"GET /api/history HTTP/1.1\r\nHost: x\r\n\r\n")
                        self.assertNotIn(b"entries", answer + tunnel.recv(10_000))

    def test_no_file_left(self) -> None:
        """A test for whose proxy no file is left is registered, with the reason; others go on."""
        with running_proxy(*NO_PINGS, command=FEW_FILES) as proxy:
            worker = RawClient.connect(proxy.url)
            worker.hello("playwright", workerId="0", features=["context"])
            for number in range(FILES):
                test = {"testId": f"t{number}", "title": "T", "file": "t", "workerId": "0"}
                worker.send(type="test:register", context=f"{number + 1:032x}", door={}, **test)
                registered = worker.receive()
                self.assertEqual(registered["type"], "test:registered")
                if "doorError" in registered:
                    break
            self.assertIn("Too many open files", registered["doorError"])
            self.assertNotIn("doorPort", registered)
            worker.send(type="test:unregister", testId="t0")
            self.assertEqual(worker.receive()["type"], "test:unregistered")
            worker.close()

    def test_life(self) -> None:
        """It is open when the test hears of it, stamps, records nothing, and ends with the test.

        When the worker hears of the end, nobody is let in, and what was open is cut.
        """
        with opened() as running:
            self.assertEqual(self.ask(running.port, running.url), b"/ " + MEMBER)
            self.assertEqual(running.proxy.get("/api/history")["entries"], [])
            streaming = HTTPConnection("127.0.0.1", running.port, timeout=SECONDS)
            streaming.request("GET", f"{running.url}stream")
            answer = streaming.getresponse()
            self.assertEqual(answer.readline(), b"data: first\n")
            running.end()
            self.assertRaises(ConnectionError, self.ask, running.port, running.url)
            self.assertRaises((ConnectionError, IncompleteRead), answer.read)
            Application.received.set()
            wait_until(lambda: is_closed(running.port), "the end of the proxy")

    def test_worker_gone(self) -> None:
        """It ends with the connection of its worker."""
        with opened() as running:
            running.worker.close()
            wait_until(lambda: is_closed(running.port), "the end of the proxy")

    def test_strangers(self) -> None:
        """Requests that are not for a proxy get nothing, and the service's own port stamps none.

        A page whose host has been rebound to the browser proxy sends the first ones.
        """
        with opened() as running:
            for path in ("/", "/api/history", "/dashboard/", "/ws"):
                for host in ("evil.test", f"127.0.0.1:{running.port}"):
                    said = self.ask(running.port, path, Host=host)
                    self.assertIn(b"misdirected_request", said)
            service = int(running.proxy.url.rpartition(":")[2])
            self.assertEqual(self.ask(service, running.url), b"/ None")

    def test_streams(self) -> None:
        """Answers and uploads go through while they are on their way."""
        with opened() as running:
            client = HTTPConnection("127.0.0.1", running.port, timeout=SECONDS)
            client.request("GET", f"{running.url}stream")
            answer = client.getresponse()
            self.assertEqual(answer.readline(), b"data: first\n")
            Application.received.set()
            self.assertEqual(answer.read(), b"\ndata: second\n\n")
            Application.received.clear()
            client = HTTPConnection("127.0.0.1", running.port, timeout=SECONDS)
            client.putrequest("POST", f"{running.url}upload")
            client.putheader("Content-Length", "3")
            client.endheaders(b"a")
            self.assertTrue(Application.received.wait(SECONDS))
            client.send(b"bc")
            self.assertEqual(client.getresponse().read(), b"abc")
            client.close()

    def test_token(self) -> None:
        """Where the service has a token, only who knows it is let in."""
        with opened(f"--token={TOKEN}") as running:
            self.assertIn(b"proxy_authentication_required", self.ask(running.port, running.url))
            known = b64encode(f"browser:{TOKEN}".encode()).decode()
            headers = {"Proxy-Authorization": f"Basic {known}"}
            self.assertEqual(self.ask(running.port, running.url, **headers), b"/ " + MEMBER)

    def test_upstream_proxy(self) -> None:
        """Requests leave by the proxy that the service is given."""
        with threaded_server(Application) as upstream:
            option = f"--upstream-proxy=http://127.0.0.1:{upstream}"
            with opened(option, origins=["http://*.test"]) as running:
                said = self.ask(running.port, "http://shop.test/x")
        self.assertEqual(said, b"http://shop.test/x " + MEMBER)
