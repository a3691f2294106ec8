"""Strict mode through the forward proxy of a real service: http, https and WebSockets."""

import base64
import http.client
import json
import ssl
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import ProxyProcess, running_proxy
from trafficmock.errors import TrafficMockError
from trafficmock.testing import sync

SECONDS = 30.0
HOST = "api.shop.test"
OPENING = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
}


class ForwardProxyTests(SynchronousTestCase):
    """Nothing is listening at the host, and nobody tries to reach it."""

    def assert_refused(self, connection: http.client.HTTPConnection, path: str, **more: Any) -> str:
        """Ask, and see that the answer is a refusal."""
        connection.request("GET", path, **more)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        self.assertEqual((answer.status, body["error"]), (403, "unmatched_request"))
        message: str = body["message"]
        return message

    def connected(self, running: ProxyProcess) -> http.client.HTTPConnection:
        address = urlsplit(running.url)
        assert address.hostname is not None
        return http.client.HTTPConnection(address.hostname, address.port, timeout=SECONDS)

    def tunnelled(self, running: ProxyProcess, ca_file: Path) -> http.client.HTTPSConnection:
        """Connect by TLS with the host, through the proxy."""
        address = urlsplit(running.url)
        assert address.hostname is not None
        context = ssl.create_default_context(cafile=str(ca_file))
        made = http.client.HTTPSConnection(
            address.hostname, address.port, timeout=SECONDS, context=context
        )
        made.set_tunnel(HOST, 443)
        return made

    def test_each_scheme(self) -> None:
        """A request without a test is refused, whatever it speaks, and listed for the run."""
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        options = ("--strict", "--allow", "allowed.test", "--ca-dir", str(folder))
        with running_proxy(*options) as running:
            with closing(self.connected(running)) as plain:
                text = self.assert_refused(plain, f"http://{HOST}/plain")
                self.assertIn("strict mode allows only allowed.test.", text)
                self.assert_refused(plain, f"http://{HOST}/socket", headers=OPENING)
            ca_file = folder / "fetched.pem"
            with closing(self.connected(running)) as plain:
                plain.request("GET", "/ca.pem")
                ca_file.write_bytes(plain.getresponse().read())
            with closing(self.tunnelled(running, ca_file)) as secure:
                self.assert_refused(secure, "/secure")
                self.assert_refused(secure, "/socket", headers=OPENING)
            listed = [each["request"]["url"] for each in running.get("/api/history")["entries"]]
            self.assertEqual(listed, [f"https://{HOST}/secure", f"http://{HOST}/plain"])

    def test_test(self) -> None:
        """A strict test fails at its end for what carries its context, and for nothing else."""
        with running_proxy() as running, closing(self.connected(running)) as plain:
            with (
                self.assertRaises((TrafficMockError, ExceptionGroup)) as caught,
                sync.mocks(running.url, strict=True, allow=["allowed.test"]) as mocks,
            ):
                mocks.route("**/chargeable", lambda route: route.fulfill(body="mocked"))
                headers = {"baggage": mocks.headers["baggage"]}
                self.assert_refused(plain, f"http://{HOST}/charge", headers=headers)
                mocks.route("**/fallen", lambda route: route.fallback(headers={"x-a": "b"}))
                text = self.assert_refused(plain, f"http://{HOST}/fallen", headers=headers)
                self.assertIn("its handler gave the request back", text)
            self.assertIn(f"GET http://{HOST}/charge is not mocked", str(_leaf(caught.exception)))


def _leaf(error: BaseException) -> BaseException:
    return _leaf(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
