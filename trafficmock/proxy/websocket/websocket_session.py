"""One WebSocket through the forward proxy: announced, decided, and routed to its test."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from twisted.internet.interfaces import IDelayedCall

from trafficmock.proxy.http1.context_headers import context_id
from trafficmock.proxy.http1.heads import RequestHead
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.request_target import Target
from trafficmock.proxy.upstream_errors import UpstreamError, decision_status
from trafficmock.proxy.websocket import opening_handshake
from trafficmock.proxy.websocket.frame_stream import ABNORMAL, FrameStream, FrameStreamListener
from trafficmock.proxy.websocket.relayed_websocket import RelayedWebSocket
from trafficmock.proxy.websocket.routed_page import RoutedPage
from trafficmock.proxy.websocket.routed_server import RoutedServer
from trafficmock.proxy.websocket.socket_messages import content
from trafficmock.proxy.websocket.socket_pace import SocketPace
from trafficmock.wire import inbound, outbound
from trafficmock.wire.inbound import Message

GRACE_SECONDS = 5.0
"""How long the server's side stays open after the application's side has closed."""


class WebSocketSession:
    """A WebSocket: holds its handshake until it is decided, then connects its sides with the test.

    If no test owns it, a :class:`RelayedWebSocket` takes its place.

    :param transport: the client's transport.
    :param head: the client's handshake.
    :param target: its server and path.
    :param hand_over: makes another protocol read the client's connection.
    :raises BadMessageError: if the handshake is malformed.
    """

    def __init__(
        self,
        transport: Any,
        proxy_client: ProxyClient,
        resources: ProxyResources,
        *,
        head: RequestHead,
        target: Target,
        hand_over: Callable[[RelayedWebSocket], None],
    ) -> None:
        self.id = str(uuid.uuid4())
        self.head = head
        self.target = target
        self.resources = resources
        self.opening = opening_handshake.read_opening(head)
        self.transport = transport
        self.pace = SocketPace(self.id, proxy_client)
        self.page = RoutedPage(self, transport)
        self._proxy_client = proxy_client
        self._hand_over = hand_over
        self._server = RoutedServer(self)
        self._grace: IDelayedCall | None = None

    def announce(self) -> None:
        """Announce the WebSocket to the coordinator."""
        self._proxy_client.receivers[self.id] = self
        self.pace.begin()
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
        """Send a message to the coordinator."""
        self._proxy_client.send(message)

    # Calls of the client's connection

    def data_received(self, data: bytes) -> None:
        self.page.data_received(data)

    def half_closed(self) -> None:
        """End the WebSocket at the client's FIN."""
        self.transport.loseConnection()

    def lost(self) -> None:
        """Handle the loss of the client's connection."""
        self.pace.end()
        self.page.lost()

    # Messages of the coordinator

    def on_message(self, message: Message) -> None:
        """Handle a message of the coordinator about this WebSocket."""
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
        """Handle a message for the application's side, and accept its handshake first."""
        self.page.accept(self.opening.protocols[0] if self.opening.protocols else None)
        if isinstance(message, inbound.SendToPage):
            self.page.send(content(message))
        elif isinstance(message, inbound.ClosePage):
            self.page.close(message.code or None, message.reason or "")

    def crashed(self) -> None:
        """Abort the connection after an internal error."""
        self.transport.abortConnection()

    def stopped(self) -> None:
        """Do nothing: the coordinator closes the WebSockets of tests itself."""

    # Calls of both sides

    def speak_frames(
        self, transport: Any, listener: FrameStreamListener, *, client: bool
    ) -> FrameStream:
        """Begin a frame stream with a peer whose handshake is done.

        :param listener: handles its messages.
        :param client: whether the proxy is the client of the handshake.
        """
        longest = self.resources.settings.max_frame_bytes
        reactor = self.resources.reactor
        stream = FrameStream(transport, listener, reactor, client=client, longest=longest)
        self.pace.add(stream)
        return stream

    def page_closed(self) -> None:
        """Drop the server's side, unless it is closed within :data:`GRACE_SECONDS`."""
        if self._server.is_over:
            self._settle()
        else:
            self._grace = self.resources.reactor.callLater(GRACE_SECONDS, self._grace_over)

    def _grace_over(self) -> None:
        self._grace = None
        self._server.drop()
        self._settle()

    def server_failed(self, error: UpstreamError) -> None:
        """Report to the coordinator and the client that the connection to the server failed."""
        close = inbound.CloseServer(self.id, was_clean=False, code=ABNORMAL, reason=error.text)
        self.send(close)
        self._refuse(error.status, error.code, error.text, failure=error.errno)

    def _refuse(self, status: int, code: str, text: str, *, failure: str | None = None) -> None:
        self._settle()
        self._server.drop()
        self.page.refuse(status, code, text, failure=failure)

    def _pass_through(self) -> None:
        self._settle()
        early = self.page.release()
        if early is None:
            return
        self.pace.end()
        relayed = RelayedWebSocket(
            self.id,
            self.transport,
            self._proxy_client.record,
            self.resources,
            head=self.head,
            target=self.target,
            early=early,
        )
        self._hand_over(relayed)
        relayed.start()

    def _settle(self) -> None:
        """Stop receiving messages of the coordinator."""
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        self._proxy_client.receivers.pop(self.id, None)
