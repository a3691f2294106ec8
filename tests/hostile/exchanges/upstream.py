"""The server behind the proxy: notes every byte it gets, and answers as a case says."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from twisted.internet.address import IPv4Address
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.interfaces import IListeningPort
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure

from tests.hostile.clients.raw import reactor
from tests.hostile.exchanges import reading

PROBE = "/probe"
PROPER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"


class _Connection(Protocol):
    transport: Any

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._buffer = b""

    def connectionMade(self) -> None:
        self._upstream.open.add(self)

    def dataReceived(self, data: bytes) -> None:
        self._buffer += data
        try:
            found, self._buffer = reading.requests(self._buffer)
        except reading.UnreadableError as error:
            self._upstream.faults.append(str(error))
            self.transport.abortConnection()
            return
        for message in found:
            self._answer(message)

    def _answer(self, message: reading.Message) -> None:
        upstream = self._upstream
        upstream.seen.append(message)
        upstream.asked = self
        if upstream.reply is None or message.first[1] == PROBE:
            bodiless = message.first[0] == "HEAD"
            self.transport.write(PROPER.removesuffix(b"done") if bodiless else PROPER)
            return
        self.transport.write(upstream.reply)
        if upstream.reply_ends:
            self.transport.loseConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002 - Twisted's
        self._upstream.open.discard(self)


@define(eq=False)
class Upstream:
    """
    A listening server.

    :param reply: what is answered, byte for byte; ``None`` for something proper. A
        probe always gets that.
    :param reply_ends: whether the connection is closed behind the reply.
    :param seen: the whole requests so far.
    :param faults: what came that was no HTTP.
    :param open: its connections.
    :param asked: the one that the last request came over.
    """

    reply: bytes | None = None
    reply_ends: bool = False
    seen: list[reading.Message] = field(factory=list)
    faults: list[str] = field(factory=list)
    open: set[_Connection] = field(factory=set)
    asked: _Connection | None = None
    _port: IListeningPort | None = None

    async def start(self) -> None:
        """Listen on a free port."""
        endpoint = TCP4ServerEndpoint(reactor, 0, interface="127.0.0.1")
        self._port = await endpoint.listen(Factory.forProtocol(lambda: _Connection(self)))

    @property
    def authority(self) -> str:
        """Host and port."""
        assert self._port is not None
        address: IPv4Address = self._port.getHost()  # type: ignore[assignment] # it is TCP
        return f"127.0.0.1:{address.port}"

    def expect(self, reply: bytes | None, *, ends: bool) -> None:
        """Forget what was seen, and answer differently from now on."""
        self.seen.clear()
        self.faults.clear()
        self.reply, self.reply_ends = reply, ends

    async def stop(self) -> None:
        """Close everything."""
        assert self._port is not None
        stopped: Any = self._port.stopListening()
        await stopped
        for connection in list(self.open):
            connection.transport.abortConnection()
