"""A connection to the server of a WebSocket: the handshake, and then bytes for whoever reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.error import ConnectionLost
from twisted.internet.interfaces import IHandshakeListener
from twisted.internet.protocol import Protocol as TwistedProtocol
from twisted.internet.protocol import connectionDone
from zope.interface import implementer

from trafficmock.proxy.http1.heads import END, BadMessageError, ResponseHead, parse_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure


class WebSocketUpstreamListener(Protocol):
    """Is told what the server of a WebSocket says."""

    def server_opened(self, server: WebSocketUpstream) -> None:
        """Send the handshake."""

    def server_answered(self, server: WebSocketUpstream, head: ResponseHead) -> None:
        """Take the answer to the handshake."""

    def server_data(self, data: bytes) -> None:
        """Take what comes behind it."""

    def server_lost(self, error: BaseException | None) -> None:
        """Take it that the connection is gone, or never was."""


@implementer(IHandshakeListener)
class WebSocketUpstream(TwistedProtocol):
    """The connection itself.

    :param check: looks at the certificate; ``None`` without TLS. What it raises ends it all.
    """

    transport: Any

    def __init__(
        self,
        reader: WebSocketUpstreamListener,
        max_header_bytes: int,
        check: Callable[[Any], None] | None,
    ) -> None:
        self._reader = reader
        self._max_header_bytes = max_header_bytes
        self._check = check
        self._buffer = b""
        self._answered = False
        self._error: BaseException | None = None

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Let small pieces pass at once."""
        self.transport.setTcpNoDelay(True)

    def handshakeCompleted(self) -> None:  # noqa: N802 - Twisted's name
        """Begin, if the server is who it should be."""
        if self._check is not None:
            try:
                self._check(self.transport)
            except Exception as error:  # noqa: BLE001 - whatever it is, this server is not trusted
                self._fail(error)
                return
        self._reader.server_opened(self)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read the answer, then leave reading to others."""
        if self._answered:
            self._reader.server_data(data)
            return
        self._buffer += data
        end = self._buffer.find(END)
        if end < 0:
            if len(self._buffer) > self._max_header_bytes:
                self._fail(BadMessageError("the head of its answer is over --max-header-bytes"))
            return
        try:
            head = parse_response(self._buffer[:end])
        except BadMessageError as error:
            self._fail(error)
            return
        rest, self._buffer = self._buffer[end + len(END) :], b""
        self._answered = True
        self._reader.server_answered(self, head)
        if rest:
            self._reader.server_data(rest)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        self._reader.server_lost(self._error or reason.value or ConnectionLost())

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self.transport.abortConnection()
