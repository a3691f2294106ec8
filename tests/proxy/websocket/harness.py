"""A client of the forward proxy that opens a WebSocket, and a test that may own it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.trial.unittest import SynchronousTestCase
from wsproto.connection import CLIENT, SERVER, Connection

from tests.proxy.harness import FakeTransport, ForwardProxyHarness

if TYPE_CHECKING:
    from tests.server.fakes import FakeLink

OPEN = (
    b"GET http://api.test/s HTTP/1.1\r\nHost: api.test\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: a, b\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)


class SocketCase(SynchronousTestCase):
    """A client, and a test that may own its WebSocket."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        self.page = Connection(CLIENT)
        self.server = Connection(SERVER)

    def owned(self, opening: bytes = OPEN) -> FakeLink:
        """Open a WebSocket that a test owns; the handshake waits for it."""
        self.worker = self.harness.worker("**://api.test/**", "websocket")
        self.client = self.harness.ask(opening)
        (claim,) = self.worker.took("ws:claim")
        self.socket_id = claim["socketId"]
        self.send("ws:claim-result", testId="t", matches=[{"routeId": "r"}])
        self.worker.took("ws:matched")
        self.assertEqual(self.client.took(), b"")
        return self.worker

    def send(self, type_: str, **fields: Any) -> None:
        self.harness.core.send_message(self.worker, type_, socketId=self.socket_id, **fields)

    def answer(self) -> bytes:
        """Give the head of what the client got, and feed the rest to its parser."""
        head, _, rest = self.client.took().partition(b"\r\n\r\n")
        self.page.receive_data(rest)
        return head

    def got(self, connection: Connection, transport: FakeTransport) -> list[Any]:
        connection.receive_data(transport.took())
        return list(connection.events())
