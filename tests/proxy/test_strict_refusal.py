"""What a client of the forward proxy gets where strict mode refuses its request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, ForwardProxyHarness
from tests.proxy.websocket.harness import OPEN

if TYPE_CHECKING:
    from tests.server.fakes import FakeLink

CONTEXT = "1" * 32
CARRIED = b"Baggage: trafficmock.test=%s\r\n" % CONTEXT.encode()


def with_context(message: bytes) -> bytes:
    return message.replace(b"\r\n\r\n", b"\r\n%s\r\n" % CARRIED)


class RefusalTests(SynchronousTestCase):
    """A strict test, whose requests come through the forward proxy."""

    def setUp(self) -> None:
        self.rig = ForwardProxyHarness()
        self.worker = self.register()

    def register(self) -> FakeLink:
        core = self.rig.core
        link = core.hello("playwright", features=["context", "strict", "subscribe"])
        core.send_message(
            link,
            "test:register",
            testId="t1",
            title="T",
            file="t",
            workerId="0",
            context=CONTEXT,
            strict={"allow": ["allowed.test"]},
        )
        link.took("test:registered")
        return link

    def assert_refused(self, answer: bytes, *, body: bool = True) -> None:
        """See that an answer is a refusal, and that no server was asked."""
        head, _, content = answer.partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 403 Forbidden\r\n"), head)
        self.assertIn(b"\r\nvia: 1.1 trafficmock (unmatched_request)\r\n", head)
        self.assertIn(b"; error=http_request_denied;", head)
        self.assertEqual(self.rig.servers, [])
        if body:
            error = json.loads(content)
            self.assertEqual(error["error"], "unmatched_request")
            self.assertIn(
                "is not mocked, and strict mode allows only allowed.test", error["message"]
            )
        (told,) = self.worker.took("proxy:error")
        self.assertEqual((told["code"], told["testId"]), ("unmatched_request", "t1"))

    def test_request(self) -> None:
        """It is refused, and the connection goes on."""
        client = self.rig.ask(with_context(GET))
        self.assert_refused(client.took())
        client.sends(with_context(GET.replace(b"GET", b"HEAD")))
        self.assert_refused(client.took(), body=False)

    def test_behind_connect(self) -> None:
        """So is what is said in the tunnel."""
        client = self.rig.ask(b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n")
        client.took()
        client.sends(with_context(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"))
        self.assert_refused(client.took())

    def test_websocket(self) -> None:
        """The handshake of a WebSocket is answered in the same way."""
        self.assert_refused(self.rig.ask(with_context(OPEN)).took())

    def test_allowed(self) -> None:
        """What is allowed goes to its server, and so does what is not this test's."""
        self.rig.ask(with_context(GET.replace(b"api.test", b"allowed.test")))
        self.rig.ask(GET)
        self.assertEqual(len(self.rig.servers), 2)
        self.assertEqual(self.worker.took(), [])
