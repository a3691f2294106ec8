"""The forward proxy as a process of its own, with real servers and clients."""

import base64
import gzip
import http.client
import json
import ssl
import subprocess
import threading
import zlib
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import serialization
from twisted.trial.unittest import SynchronousTestCase

from tests.support.certificates import server as authority
from tests.support.processes.proxy_process import ProxyProcess, running_proxy
from tests.support.raw_client import RawClient
from tests.support.threaded_server import threaded_server
from trafficmock.certificates.names import certificate_name

SECONDS = 20.0


class Upstream(BaseHTTPRequestHandler):
    """Says what it was asked; the second event waits until the client holds the first."""

    protocol_version = "HTTP/1.1"
    holds_first = threading.Event()

    def do_GET(self) -> None:
        """Answer, or send events."""
        if self.path == "/events":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"event 1\n")
            self.holds_first.wait(SECONDS)
            self.wfile.write(b"event 2\n")
            self.close_connection = True
            return
        self._send(f"{self.command} {self.path} {self.headers['Host']}".encode())

    def do_POST(self) -> None:
        """Count the body."""
        left, count = int(self.headers["Content-Length"]), 0
        while left:
            piece = self.rfile.read(min(left, 65536))
            left, count = left - len(piece), count + len(piece)
        self._send(b"%d bytes" % count)

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


def server_context(directory: Path) -> ssl.SSLContext:
    """Make TLS of a server called ``localhost``."""
    maker = authority().store._leaf_maker()
    leaf = maker.make(certificate_name("localhost"), authority().store._now())
    file = directory / "server.pem"
    file.write_bytes(
        maker.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + leaf.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def through(proxy: ProxyProcess) -> http.client.HTTPConnection:
    target = urlsplit(proxy.url)
    assert target.hostname is not None
    return http.client.HTTPConnection(target.hostname, target.port, timeout=SECONDS)


def worker_with_route(proxy: ProxyProcess) -> RawClient:
    """Give a worker with a test that owns every request for ``nowhere.invalid``."""
    worker = RawClient.connect(proxy.url)
    worker.hello("playwright", workerId="0")
    worker.send(type="test:register", testId="t", title="T", file="t", workerId="0")
    matcher = {"urlGlob": "http://nowhere.invalid/**"}
    worker.send(type="route:register", routeId="r", testId="t", matcher=matcher)
    assert worker.receive()["type"] == "test:registered"
    assert worker.receive()["type"] == "route:registered"
    return worker


class ProcessTests(SynchronousTestCase):
    """One process, real sockets."""

    def ask(self, client: http.client.HTTPConnection, *request: Any) -> tuple[int, bytes]:
        client.request(*request)
        answer = client.getresponse()
        return answer.status, answer.read()

    def test_http(self) -> None:
        """Requests and bodies go there and back over one connection, and are remembered."""
        with threaded_server(Upstream) as port, running_proxy() as proxy:
            client, url = through(proxy), f"http://127.0.0.1:{port}"
            found = self.ask(client, "GET", f"{url}/a?b")
            self.assertEqual(found, (200, f"GET /a?b 127.0.0.1:{port}".encode()))
            self.assertEqual(self.ask(client, "POST", url, b"x" * 300_000), (200, b"300000 bytes"))
            client.close()
            posted, got = proxy.get("/api/history")["entries"]
        self.assertEqual((got["action"], got["clientId"]), ("passthrough", "proxy"))
        self.assertEqual(len(posted["request"]["bodyBase64"]), 400_000)

    def test_https(self) -> None:
        """TLS is opened with a certificate of our authority, and verified on the way out."""
        directory = Path(self.mktemp()).resolve()
        directory.mkdir()
        with threaded_server(Upstream, server_context(directory)) as port:
            options = ("--ca-dir", str(directory / "ca"), "--upstream-ca", authority().authority)
            with running_proxy(*options) as proxy:
                rest = through(proxy)
                pem = self.ask(rest, "GET", "/ca.pem")[1].decode()
                rest.close()
                trusting = ssl.create_default_context(cadata=pem)
                target = urlsplit(proxy.url)
                client = http.client.HTTPSConnection(
                    target.hostname or "", target.port, timeout=SECONDS, context=trusting
                )
                client.set_tunnel("localhost", port)
                found = self.ask(client, "GET", "/secret")
                client.close()
                (entry,) = proxy.get("/api/history")["entries"]
        self.assertEqual(found, (200, f"GET /secret localhost:{port}".encode()))
        self.assertEqual(entry["request"]["url"], f"https://localhost:{port}/secret")

    def test_event_by_event(self) -> None:
        """The second event comes only after the client holds the first."""
        Upstream.holds_first.clear()
        with threaded_server(Upstream) as port, running_proxy() as proxy:
            client = through(proxy)
            client.request("GET", f"http://127.0.0.1:{port}/events")
            answer = client.getresponse()
            self.assertEqual(answer.readline(), b"event 1\n")
            (entry,) = proxy.get("/api/history")["entries"]
            Upstream.holds_first.set()
            self.assertEqual(answer.readline(), b"event 2\n")
            self.assertEqual(answer.read(), b"")
            client.close()
        self.assertEqual(entry["outcome"]["response"]["status"], 200)

    def test_mock(self) -> None:
        """A test fulfills what an application asks of a server that does not exist."""
        with running_proxy() as proxy:
            worker = worker_with_route(proxy)
            client = through(proxy)
            client.request("GET", "http://nowhere.invalid/x")
            self.assertEqual(worker.receive()["type"], "request:observed")
            matched = worker.receive()
            response = {"status": 201, "statusText": "", "headers": {}, "bodyBase64": "e30="}
            result = {"action": "fulfill", "response": response}
            worker.send(type="handler:result", requestId=matched["requestId"], result=result)
            answer = client.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())), (201, {}))
            client.close()
            worker.close()

    def test_mocked_to_curl(self) -> None:
        """Curl decodes a mock's body where it is coded as its header says, and only there."""
        for body in (b"plain", gzip.compress(b"plain"), zlib.compress(b"plain")):
            coding = "deflate" if body[:1] == b"x" else "gzip"
            with running_proxy() as proxy:
                worker = worker_with_route(proxy)
                command = "curl", "-sS", "--compressed", "-x", proxy.url
                curl = subprocess.Popen(
                    [*command, "http://nowhere.invalid/x"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
                self.assertEqual(worker.receive()["type"], "request:observed")
                matched = worker.receive()
                response = {
                    "status": 200,
                    "statusText": "",
                    "headers": {"content-encoding": coding},
                    "bodyBase64": base64.b64encode(body).decode(),
                }
                result = {"action": "fulfill", "response": response}
                worker.send(type="handler:result", requestId=matched["requestId"], result=result)
                message, _ = curl.communicate(timeout=SECONDS)
                self.assertEqual((message, curl.returncode), (b"plain", 0))
                worker.close()
