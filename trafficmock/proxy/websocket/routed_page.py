"""The application's side of a WebSocket that a test owns (the page side of ``WebSocketRoute``)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from trafficmock.proxy.http1.attached_clients import failure_lines
from trafficmock.proxy.upstream_errors import error_response
from trafficmock.proxy.websocket import opening_handshake
from trafficmock.proxy.websocket.frame_stream import ABNORMAL, FrameStream
from trafficmock.proxy.websocket.socket_messages import message_of
from trafficmock.wire import inbound

if TYPE_CHECKING:
    from trafficmock.proxy.websocket.websocket_session import WebSocketSession

_INTERNAL_ERROR = 1011


class PageState(Enum):
    """The states of the application's side, in their order."""

    HELD = "its handshake is not answered yet"
    OPEN = "messages pass between the application and the test"
    CLOSED = "closed, refused, or passed through"


class RoutedPage:
    """Answers the application's handshake once, and then exchanges messages with it.

    :param session: the WebSocket, which sends messages to the coordinator.
    :param transport: the application's transport.
    """

    def __init__(self, session: WebSocketSession, transport: Any) -> None:
        self._session = session
        self._transport = transport
        self._state = PageState.HELD
        self._stream: FrameStream | None = None
        self._early = b""

    # Bytes of the application

    def data_received(self, data: bytes) -> None:
        """Handle frames; buffer those that come before the handshake is answered."""
        if self._stream is not None:
            self._stream.data_received(data)
        elif self._state is PageState.HELD:
            self._early += data
            if len(self._early) > self._session.resources.settings.max_header_bytes:
                self._transport.abortConnection()

    def lost(self) -> None:
        """Handle the loss of the application's connection."""
        if self._stream is not None:
            self._stream.lost()
        elif self._state is PageState.HELD:
            self.closed(ABNORMAL, "", clean=False)

    # Decisions of the test

    def accept(self, protocol: str | None) -> None:
        """Answer the handshake with 101, unless it is answered already.

        :param protocol: the subprotocol; ``None`` for none.
        """
        if self._state is not PageState.HELD:
            return
        self._state = PageState.OPEN
        self._transport.write(opening_handshake.acceptance(self._session.opening.key, protocol))
        self._stream = self._session.speak_frames(self._transport, self, client=False)
        early, self._early = self._early, b""
        if early:
            self._stream.data_received(early)

    def refuse(self, status: int, code: str, text: str, *, failure: str | None = None) -> None:
        """Fail the WebSocket: with an error response to the handshake, or with a close frame.

        :param failure: the code for an attached process; ``None`` for ``code``.
        """
        if self._stream is not None:
            self._stream.close(_INTERNAL_ERROR, text)
        elif self._state is PageState.HELD:
            self._state = PageState.CLOSED
            lines = failure_lines(self._session.head, failure or code, text)
            self._transport.write(error_response(status, code, text, headers=lines))
            self._transport.loseConnection()

    def release(self) -> bytes | None:
        """Give the connection up, so that another object answers the handshake.

        :returns: the bytes behind the handshake; ``None`` if it is answered already.
        """
        if self._state is not PageState.HELD:
            return None
        self._state = PageState.CLOSED
        return self._early

    def send(self, data: str | bytes) -> None:
        """Send a message of the test."""
        if self._stream is not None:
            self._stream.send(data)

    def close(self, code: int | None, reason: str) -> None:
        if self._stream is not None:
            self._stream.close(code, reason)

    # Messages of the application

    def message(self, data: str | bytes) -> None:
        """Send a message of the application to the test."""
        self._session.send(message_of(inbound.MessageFromPage, self._session.id, data))

    def closed(self, code: int, reason: str, *, clean: bool) -> None:
        """Report the close of the application's side."""
        self._state = PageState.CLOSED
        self.resumeProducing()
        self._session.send(inbound.ClosePage(self._session.id, clean, code, reason))
        self._session.page_closed()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._session.pace.backlogged()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._session.pace.drained()
