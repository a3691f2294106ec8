"""A WebSocket that comes through the forward proxy, held until it is known whose it is."""

from __future__ import annotations

import uuid
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

from trafficmock.proxy.http1.context_headers import context_id
from trafficmock.proxy.upstream_errors import decision_status, error_response
from trafficmock.proxy.websocket import opening_handshake
from trafficmock.proxy.websocket.frame_stream import FrameStream
from trafficmock.proxy.websocket.relayed_websocket import RelayedWebSocket
from trafficmock.proxy.websocket.routed_server import RoutedServer
from trafficmock.proxy.websocket.socket_messages import content, message_of
from trafficmock.wire import inbound, outbound

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IDelayedCall

    from trafficmock.proxy.http1.heads import RequestHead
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.proxy.proxy_settings import ProxyContext
    from trafficmock.proxy.request_target import Target
    from trafficmock.proxy.upstream_errors import UpstreamError
    from trafficmock.proxy.websocket.frame_stream import FrameStreamListener
    from trafficmock.wire.inbound import Message

GRACE_SECONDS = 5.0
"""How long the server's side lives on when the application's has closed and nobody closes it."""

_ABNORMAL = 1006


class PageState(Enum):
    """The life of the application's side; it goes forward only."""

    HELD = "its handshake waits for an answer"
    OPEN = "frames pass between it and a test"
    CLOSED = "closed, refused, or passed through"


@implementer(IPushProducer)
class WebSocketSession:
    """The application's side of a WebSocket, for the test that owns it.

    What no test wants goes to a :class:`RelayedWebSocket`.

    :param transport: the client's.
    :param head: of its handshake.
    :param target: where it is aimed.
    :param hand_over: lets another protocol read what the client sends.
    """

    def __init__(
        self,
        transport: Any,
        proxy_client: ProxyClient,
        context: ProxyContext,
        *,
        head: RequestHead,
        target: Target,
        hand_over: Callable[[RelayedWebSocket], None],
    ) -> None:
        self.id = str(uuid.uuid4())
        self.head = head
        self.target = target
        self.context = context
        self.opening = opening_handshake.read_opening(head)
        self.transport = transport
        self._proxy_client = proxy_client
        self._hand_over = hand_over
        self._state = PageState.HELD
        self._page: FrameStream | None = None
        self._server = RoutedServer(self)
        self._early = b""
        self._held_back = False
        self._grace: IDelayedCall | None = None

    def announce(self) -> None:
        """Tell the coordinator of it; the client waits for the answer to its handshake."""
        self._proxy_client.receivers[self.id] = self
        self._proxy_client.sockets[self.id] = self
        url = "ws" + self.target.url.removeprefix("http")
        context = context_id(self.head)
        self.send(
            inbound.SocketOpen(
                self.id,
                url,
                self.opening.protocols,
                self._proxy_client.client_id,
                UNSET if context is None else context,
            )
        )

    def send(self, message: Message) -> None:
        """Tell the coordinator."""
        self._proxy_client.send(message)

    # What the client does

    def data_received(self, data: bytes) -> None:
        if self._page is not None:
            self._page.data_received(data)
        elif self._state is PageState.HELD:
            self._early += data
            if len(self._early) > self.context.settings.max_header_bytes:
                self.transport.abortConnection()

    def half_closed(self) -> None:
        """End the WebSocket at the client's FIN."""
        self.transport.loseConnection()

    def lost(self) -> None:
        """Take it that the client is gone."""
        self._forget_pace()
        if self._page is not None:
            self._page.lost()
        elif self._state is PageState.HELD:
            self.closed(_ABNORMAL, "", clean=False)

    # What the coordinator says

    def on_message(self, message: Message) -> None:
        """Act on a message about this WebSocket."""
        match message:
            case outbound.SocketPassthrough():
                self._pass_through()
            case outbound.SocketError():
                self._refuse(decision_status(message.code), message.code, message.message)
            case inbound.SocketConnect():
                self._server.connect()
            case inbound.SendToServer():
                self._server.send(content(message))
            case inbound.CloseServer():
                self._server.close(message.code or None, message.reason or "")
            case _:
                self._on_page_message(message)

    def _on_page_message(self, message: Message) -> None:
        """Act on what is for the application's side, which all of it opens."""
        self.accept(self.opening.protocols[0] if self.opening.protocols else None)
        if self._page is None:
            return
        if isinstance(message, inbound.SendToPage):
            self._page.send(content(message))
        elif isinstance(message, inbound.ClosePage):
            self._page.close(message.code or None, message.reason or "")

    def crashed(self) -> None:
        """Cut the connection: something of ours failed."""
        self.transport.abortConnection()

    def stopped(self) -> None:
        """Do nothing: the coordinator ends what it decides, and what is passed on is cut."""

    # Its pace

    drained_total = arriving_bytes = 0
    """Nobody asks how far a WebSocket has come: it has no heartbeat of its own."""

    def pause(self) -> None:
        """Stop reading from both sides: the test that takes their frames lags behind."""
        self._held_back = True
        for side in (self._page, self._server.stream):
            if side is not None:
                side.pause()

    def resume(self) -> None:
        self._held_back = False
        for side in (self._page, self._server.stream):
            if side is not None:
                side.resume()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Hold the test back: a side takes less than it is sent."""
        self._proxy_client.gateway.socket_backlogged(self)

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._proxy_client.gateway.socket_drained(self)

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the end of the connection is told otherwise."""

    def _forget_pace(self) -> None:
        self._proxy_client.sockets.pop(self.id, None)
        self._proxy_client.gateway.socket_gone(self)

    # The application's side

    def accept(self, protocol: str | None) -> None:
        """Open the application's side, if it is still held.

        :param protocol: the subprotocol that is spoken.
        """
        if self._state is not PageState.HELD:
            return
        self._state = PageState.OPEN
        self.transport.write(opening_handshake.acceptance(self.opening.key, protocol))
        self._page = self.speak_frames(self.transport, self, client=False)
        early, self._early = self._early, b""
        if early:
            self._page.data_received(early)

    def speak_frames(
        self, transport: Any, listener: FrameStreamListener, *, client: bool
    ) -> FrameStream:
        """Speak frames with a side whose handshake is done, for ``listener``."""
        longest = self.context.settings.max_frame_bytes
        reactor = self.context.reactor
        stream = FrameStream(transport, listener, reactor, client=client, longest=longest)
        if self._held_back:
            stream.pause()
        return stream

    def message(self, data: str | bytes) -> None:
        """Pass a message of the application on to the test."""
        self.send(message_of(inbound.MessageFromPage, self.id, data))

    def closed(self, code: int, reason: str, *, clean: bool) -> None:
        """Pass on that the application's side is closed."""
        self._state = PageState.CLOSED
        self.resumeProducing()
        self.send(inbound.ClosePage(self.id, clean, code, reason))
        if self._server.is_over:
            self._settle()
        else:
            self._grace = self.context.reactor.callLater(GRACE_SECONDS, self._grace_over)

    def _grace_over(self) -> None:
        self._grace = None
        self._server.drop()
        self._settle()

    def server_failed(self, error: UpstreamError) -> None:
        """Tell everybody that there is no server."""
        close = inbound.CloseServer(self.id, was_clean=False, code=_ABNORMAL, reason=error.text)
        self.send(close)
        self._refuse(error.status, error.code, error.text)

    def _refuse(self, status: int, code: str, text: str) -> None:
        """Fail the application's WebSocket: by HTTP while it is held, else by a close."""
        self._settle()
        self._server.drop()
        if self._page is not None:
            self._page.close(1011, text)
        elif self._state is PageState.HELD:
            self._state = PageState.CLOSED
            self.transport.write(error_response(status, code, text))
            self.transport.loseConnection()

    def _pass_through(self) -> None:
        self._settle()
        if self._state is PageState.HELD:
            self._state = PageState.CLOSED
            self._forget_pace()
            relayed = RelayedWebSocket(
                self.id,
                self.transport,
                self._proxy_client,
                self.context,
                head=self.head,
                target=self.target,
                early=self._early,
            )
            self._hand_over(relayed)
            relayed.start()

    def _settle(self) -> None:
        """Hear no more of the coordinator."""
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        self._proxy_client.receivers.pop(self.id, None)
