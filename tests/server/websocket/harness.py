"""WebSocket connections without sockets: real protocols and transports over a fake kernel."""

from typing import Any

from attrs import define, field
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.tcp import Connection
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure

from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
from trafficmock.server.websocket.link import Link, WebSocketLimits
from trafficmock.server.websocket.masking import unmask_in_python
from trafficmock.server.websocket.oversized_frames import OversizedMessage
from trafficmock.server.websocket.upgrade import LinkFactory

HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)
MASK = b"\x05\xa7\x00\xff"
TEXT, BINARY, CLOSE, PING, PONG, MORE = 1, 2, 8, 9, 10, 0


def frame(
    payload: bytes = b"",
    *,
    opcode: int = TEXT,
    fin: bool = True,
    rsv: int = 0,
    mask: bytes | None = MASK,
    length_bytes: int | None = None,
) -> bytes:
    """Write a frame, with any fault (RFC 6455 section 5.2)."""
    if length_bytes is None:
        length_bytes = 0 if len(payload) < 126 else 2 if len(payload) < 1 << 16 else 8
    short = {0: len(payload), 2: 126, 8: 127}[length_bytes]
    head = bytes([fin << 7 | rsv << 4 | opcode, (mask is not None) << 7 | short])
    head += len(payload).to_bytes(length_bytes, "big") if length_bytes else b""
    if mask is None:
        return head + payload
    return head + mask + unmask_in_python(bytearray(payload), mask)


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(code.to_bytes(2, "big") + reason, opcode=CLOSE)


def server_frames(data: bytes) -> list[tuple[int, bytes]]:
    """Read what a server sent: opcodes and payloads of whole frames."""
    found = []
    while data:
        assert data[0] & 0x80, "a fragment"
        length, at = data[1], 2
        if length > 125:
            at = 4 if length == 126 else 10
            length = int.from_bytes(data[2:at], "big")
        assert len(data) >= at + length, "half a frame"
        found.append((data[0] & 0x0F, data[at : at + length]))
        data = data[at + length :]
    return found


@define(eq=False)
class FakeSocket:
    """The kernel's side: takes as many bytes as the test gives it room for."""

    room: int = 2**40
    writes: list[bytes] = field(factory=list)
    options: list[tuple[int, ...]] = field(factory=list)
    broken: bool = False

    def send(self, data: bytes | memoryview) -> int:
        return self.sendmsg([data])

    def sendmsg(self, pieces: Any) -> int:
        if self.broken:
            raise BrokenPipeError(32, "broken")
        data = b"".join(pieces)
        if data and not self.room:
            raise BlockingIOError(11, "full")
        taken = data[: self.room]
        self.room -= len(taken)
        if taken:
            self.writes.append(taken)
        return len(taken)

    def setblocking(self, _: bool) -> None:  # noqa: FBT001 - the socket's signature
        pass

    def fileno(self) -> int:
        return 7

    def setsockopt(self, *option: int) -> None:
        self.options.append(option)

    def shutdown(self, _: int) -> None:
        pass

    def close(self) -> None:
        pass


class FakeConnection(Connection):
    """Twisted's own transport, but for the socket."""

    socket: Any

    def __init__(self, socket: FakeSocket, protocol: Any, reactor: MemoryReactorClock) -> None:
        faked: Any = socket
        super().__init__(faked, protocol, reactor)

    def getPeer(self) -> IPv4Address:
        return IPv4Address("TCP", "127.0.0.1", 51234)

    def getHost(self) -> IPv4Address:
        return IPv4Address("TCP", "127.0.0.1", 4310)


@define(eq=False, slots=False)
class RecordingHandler:
    """A handler that keeps what it is told, and does what the test wants done."""

    messages: list[bytes] = field(factory=list)
    events: list[str] = field(factory=list)
    links: list[Link] = field(factory=list)
    react: Any = None
    """Called with the link and each message."""
    hospitable: bool = True
    """Whether links may send messages of full size from the beginning."""

    def link_opened(self, link: Link) -> None:
        self.events.append("opened")
        self.links.append(link)
        if self.hospitable:
            link.welcome()

    def link_received(self, link: Link, payload: bytes) -> None:
        self.messages.append(payload)
        if self.react is not None:
            self.react(link, payload)

    def link_overlong(self, link: Link, message: OversizedMessage) -> None:  # noqa: ARG002 - the signature of handlers
        self.events.append(f"overlong {message.head[:5]!r} {message.size}")

    def link_closed(self, link: Link) -> None:  # noqa: ARG002 - the signature of handlers
        self.events.append("closed")

    def link_backlogged(self, link: Link) -> None:  # noqa: ARG002 - the signature of handlers
        self.events.append("backlogged")

    def link_drained(self, link: Link) -> None:  # noqa: ARG002 - the signature of handlers
        self.events.append("drained")


@define(eq=False)
class ConnectionHarness:
    """One connection, its handler, its kernel and a clock."""

    protocol_class: type[AutobahnProtocol]
    limits: WebSocketLimits = field(factory=WebSocketLimits)
    handler: RecordingHandler = field(factory=RecordingHandler)
    socket: FakeSocket = field(factory=FakeSocket)
    reactor: MemoryReactorClock = field(factory=MemoryReactorClock)
    protocol: Any = field(init=False)
    transport: FakeConnection = field(init=False)

    def __attrs_post_init__(self) -> None:
        factory = LinkFactory(
            self.protocol_class, handler=self.handler, limits=self.limits, reactor=self.reactor
        )
        self.protocol = factory.buildProtocol(IPv4Address("TCP", "127.0.0.1", 51234))
        self.transport = FakeConnection(self.socket, self.protocol, self.reactor)
        self.transport.connected = True
        self.transport.startReading()
        self.protocol.makeConnection(self.transport)

    @property
    def link(self) -> Link:
        return self.handler.links[0]

    def open(self, extra: bytes = b"") -> bytes:
        """Shake hands; gives the answer."""
        self.receive(HANDSHAKE + extra + b"\r\n")
        return self.sent()

    def receive(self, data: bytes) -> None:
        if self.transport.connected:
            self.protocol.dataReceived(data)

    def turn(self, seconds: float = 0) -> None:
        """Let the reactor run what is due, and write what there is room for."""
        self.reactor.advance(seconds)
        for _ in range(10_000):
            if self.transport not in self.reactor.getWriters():
                break
            before = self.socket.room
            why = self.transport.doWrite()
            if why is not None:
                self.lose(Failure(why))
            if self.socket.room == before and not self.socket.room:
                break

    def sent(self) -> bytes:
        """Give all that was sent since the last call."""
        self.turn()
        data, self.socket.writes = b"".join(self.socket.writes), []
        return data

    def frames(self) -> list[tuple[int, bytes]]:
        """Give all frames that were sent since the last call."""
        return server_frames(self.sent())

    def lose(self, reason: Failure | None = None) -> None:
        """End the connection from outside."""
        self.transport.connectionLost(reason or Failure(ConnectionDone()))

    @property
    def connected(self) -> bool:
        return bool(self.transport.connected)

    @property
    def reading(self) -> bool:
        return self.transport in self.reactor.getReaders()

    def timers(self) -> int:
        return len(self.reactor.getDelayedCalls())
