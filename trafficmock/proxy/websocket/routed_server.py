"""The server's side of a WebSocket that a test owns, opened by ``connect_to_server``."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred

from trafficmock.proxy.http1.heads import BadMessageError, ResponseHead
from trafficmock.proxy.upstream_errors import upstream_error
from trafficmock.proxy.websocket import opening_handshake
from trafficmock.proxy.websocket.frame_stream import ABNORMAL, FrameStream
from trafficmock.proxy.websocket.socket_messages import message_of
from trafficmock.proxy.websocket.websocket_upstream import WebSocketUpstream, dial
from trafficmock.wire import inbound

if TYPE_CHECKING:
    from trafficmock.proxy.websocket.websocket_session import WebSocketSession


class ServerState(Enum):
    """The states of the server's side, in their order."""

    UNUSED = "the test has not connected to the server"
    CONNECTING = "the server is being connected, or its response to the handshake is awaited"
    OPEN = "messages pass between the server and the test"
    CLOSED = "closed, failed, or given up"


class RoutedServer:
    """Connects with the server once, and then exchanges messages with it.

    :param session: the WebSocket, which sends messages to the coordinator.
    """

    def __init__(self, session: WebSocketSession) -> None:
        self._stream: FrameStream | None = None
        self._session = session
        self._state = ServerState.UNUSED
        self._key = opening_handshake.new_key()
        self._dialling: Deferred[Any] | None = None
        self._transport: Any = None
        self._waiting: list[str | bytes] = []

    @property
    def is_over(self) -> bool:
        """Whether there is no connection that has to be closed."""
        return self._state in {ServerState.UNUSED, ServerState.CLOSED}

    # Calls of the test

    def connect(self) -> None:
        if self._state is ServerState.UNUSED:
            self._state = ServerState.CONNECTING
            session = self._session
            reached_at = session.transport.getHost()
            self._dialling = dial(self, session.resources, session.target.origin, reached_at)

    def send(self, data: str | bytes) -> None:
        """Send a message, once the connection is open; without a connection it is dropped."""
        if self._stream is not None:
            self._stream.send(data)
        elif self._state is ServerState.CONNECTING:
            self._waiting.append(data)

    def close(self, code: int | None, reason: str) -> None:
        if self._stream is not None:
            self._stream.close(code, reason)
        elif self._state is ServerState.CONNECTING:
            self.drop()
            self._tell_closed(ABNORMAL)

    def drop(self) -> None:
        """Abort the connection, or the attempt to connect."""
        if self._state is ServerState.CONNECTING:
            self._state = ServerState.CLOSED
        dialling, self._dialling = self._dialling, None
        if dialling is not None:
            dialling.cancel()
        if self._transport is not None:
            self._transport.abortConnection()

    # Calls of the server's connection

    def server_opened(self, server: WebSocketUpstream) -> None:
        """Send the proxy's own handshake, without the client's extensions."""
        if self._state is not ServerState.CONNECTING:
            server.transport.abortConnection()
            return
        self._transport = server.transport
        session = self._session
        pairs = opening_handshake.opening_pairs(session.head, self._key, session.opening)
        server.send_handshake(session.target, pairs)

    def server_answered(self, server: WebSocketUpstream, head: ResponseHead) -> None:
        """Check the response, and answer the application's handshake with the same subprotocol."""
        session = self._session
        try:
            protocol = opening_handshake.accepted_protocol(head, self._key, session.opening)
        except BadMessageError as error:
            self._fail(error)
            server.transport.abortConnection()
            return
        self._state = ServerState.OPEN
        self._stream = session.speak_frames(server.transport, self, client=True)
        session.page.accept(protocol)
        waiting, self._waiting = self._waiting, []
        for data in waiting:
            self._stream.send(data)

    def server_data(self, data: bytes) -> None:
        if self._stream is not None:
            self._stream.data_received(data)

    def server_lost(self, error: BaseException | None) -> None:
        """Handle the loss of the server's connection, or the failure to open it."""
        self._transport = None
        if self._stream is not None:
            self._stream.lost()
        elif self._state is ServerState.CONNECTING:
            self._fail(error)

    def _fail(self, error: BaseException | None) -> None:
        self._state = ServerState.CLOSED
        self._session.server_failed(upstream_error(error, self._session.target.origin))

    # Messages of the server

    def message(self, data: str | bytes) -> None:
        """Send a message of the server to the test."""
        self._session.send(message_of(inbound.MessageFromServer, self._session.id, data))

    def closed(self, code: int, reason: str, *, clean: bool) -> None:
        """Report the close of the server's side."""
        self._state = ServerState.CLOSED
        self._stream = None
        self.resumeProducing()
        self._tell_closed(code, reason, clean=clean)

    def _tell_closed(self, code: int, reason: str = "", *, clean: bool = False) -> None:
        self._session.send(inbound.CloseServer(self._session.id, clean, code, reason))

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._session.pace.backlogged()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._session.pace.drained()
