"""A client of the forward proxy that opens a WebSocket, and a test that may own it."""

from typing import Any

from attrs import define, field
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from wsproto.connection import CLIENT, SERVER, Connection

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from tests.server.fakes import FakeLink
from trafficmock.proxy.websocket.frame_stream import FrameStream

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


@define(eq=False)
class RecordingReceiver:
    """Keeps what is heard."""

    received: list[Any] = field(factory=list)

    def message(self, data: str | bytes) -> None:
        self.received.append(data)

    def closed(self, code: int, reason: str, *, clean: bool) -> None:
        self.received.append((code, reason, clean))

    def pauseProducing(self) -> None:
        """Take it."""

    def resumeProducing(self) -> None:
        """Take it."""

    def stopProducing(self) -> None:
        """Take it."""


@define(eq=False)
class Side:
    """Our side, and the other one."""

    client: bool = False
    longest: int = 1000
    transport: FakeTransport = field(factory=FakeTransport)
    receiver: RecordingReceiver = field(factory=RecordingReceiver)
    clock: Clock = field(factory=Clock)
    frames: FrameStream = field(init=False)
    other: Connection = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.frames = FrameStream(
            self.transport, self.receiver, self.clock, client=self.client, longest=self.longest
        )
        self.other = Connection(SERVER if self.client else CLIENT)

    def sends(self, event: Any) -> None:
        self.frames.data_received(self.other.send(event))

    def took(self) -> list[Any]:
        self.other.receive_data(self.transport.took())
        return list(self.other.events())
