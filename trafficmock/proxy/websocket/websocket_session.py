"""A WebSocket that comes through the forward proxy: held, mocked, connected or passed through."""

from __future__ import annotations

import base64
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

from trafficmock import records
from trafficmock.proxy.http1.forwarded_headers import end_to_end, request_block, response_block
from trafficmock.proxy.http1.framing import NONE
from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.upstream_errors import (
    LOOP_DETECTED,
    UpstreamError,
    error_response,
    upstream_error,
)
from trafficmock.proxy.websocket import opening_handshake
from trafficmock.proxy.websocket.frame_stream import FrameStream, content
from trafficmock.proxy.websocket.frame_tap import FrameTap
from trafficmock.proxy.websocket.websocket_upstream import WebSocketUpstream
from trafficmock.wire import inbound, outbound

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IDelayedCall
    from twisted.python.failure import Failure

    from trafficmock.proxy.http1.heads import Pairs, RequestHead, ResponseHead
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.proxy.proxy_settings import ProxyContext
    from trafficmock.proxy.request_target import Target
    from trafficmock.wire.inbound import Message

GRACE_SECONDS = 5.0
"""How long the server's side lives on when the application's has closed and nobody closes it."""

_SWITCHING = 101
_ABNORMAL = 1006


@implementer(IPushProducer)
class WebSocketSession:
    """Both sides of one WebSocket, and the coordinator between them.

    :param transport: the client's.
    :param head: of its handshake.
    :param target: where it is aimed.
    """

    def __init__(
        self,
        transport: Any,
        proxy_client: ProxyClient,
        context: ProxyContext,
        *,
        head: RequestHead,
        target: Target,
    ) -> None:
        self.id = str(uuid.uuid4())
        self._opening = opening_handshake.read_opening(head)
        self._transport = transport
        self._proxy_client = proxy_client
        self._context = context
        self._head = head
        self._target = target
        self._page: FrameStream | None = None
        self._server: FrameStream | None = None
        self._key = opening_handshake.new_key()
        self._blind = False
        self._relayed = False
        self._raw_server: Any = None
        self._connecting: Deferred[Any] | None = None
        self._to_server: list[str | bytes] = []
        self._early = b""
        self._timer: IDelayedCall | None = None
        self._refused = False
        self._gone = False
        self._tap = FrameTap(self.id, self._proxy_client.record)

    def announce(self) -> None:
        """Tell the coordinator of it; the client waits for the answer to its handshake."""
        self._proxy_client.receivers[self.id] = self
        self._proxy_client.sockets[self.id] = self
        url = "ws" + self._target.url.removeprefix("http")
        self._send(
            inbound.SocketOpen(self.id, url, self._opening.protocols, self._proxy_client.client_id)
        )

    # What the client does

    def data_received(self, data: bytes) -> None:
        if self._page is not None:
            self._page.data_received(data)
        elif self._blind and self._raw_server is not None:
            self._raw_server.write(data)
            self._tap.from_page(data)
        else:
            self._early += data
            if len(self._early) > self._context.settings.max_header_bytes:
                self._transport.abortConnection()

    def done(self) -> None:
        """Take it that the client has closed its direction, which ends a WebSocket."""
        self._transport.loseConnection()

    def lost(self) -> None:
        """Take it that the client is gone."""
        self._gone = True
        self._proxy_client.sockets.pop(self.id, None)
        self._proxy_client.gateway.socket_gone(self)
        if self._page is not None:
            self._page.lost()
        elif not self._blind and not self._refused:
            self._closed_page(_ABNORMAL, "", clean=False)
        if self._blind:
            self._tap.page_lost()
            self._drop_server()

    # What the coordinator says

    def on_message(self, message: Message) -> None:
        """Act on a message about this WebSocket."""
        match message:
            case outbound.SocketPassthrough():
                self._blind = True
                self._settle()
                self._dial()
            case outbound.SocketError():
                self._refuse(502, message.code, message.message)
            case inbound.SocketConnect():
                if self._connecting is None and self._raw_server is None:
                    self._dial()
            case inbound.SendToServer():
                self._send_to_server(content(message))
            case inbound.CloseServer():
                self._close_server(message)
            case _:
                self._on_page_message(message)

    def _on_page_message(self, message: Message) -> None:
        """Act on what is for the application's side, which all of it opens."""
        self._accept(self._opening.protocols[0] if self._opening.protocols else None)
        if self._page is None:
            return
        if isinstance(message, inbound.SendToPage):
            self._page.send(content(message))
        elif isinstance(message, inbound.ClosePage):
            self._page.close(message.code or None, message.reason or "")

    def crashed(self) -> None:
        """Cut the connection: something of ours failed."""
        self._transport.abortConnection()

    def stopped(self) -> None:
        """Do nothing: the coordinator ends what it decides, and what is passed on is cut."""

    # Its pace

    drained_total = arriving_bytes = 0
    """Nobody asks how far a WebSocket has come: it has no heartbeat of its own."""

    def pause(self) -> None:
        """Stop reading from both sides: the test that takes their frames lags behind."""
        for side in (self._page, self._server):
            if side is not None:
                side.pause()

    def resume(self) -> None:
        for side in (self._page, self._server):
            if side is not None:
                side.resume()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Hold the test back: a side takes less than it is sent."""
        self._proxy_client.gateway.socket_backlogged(self)

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._proxy_client.gateway.socket_drained(self)

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the end of the connection is told otherwise."""

    # What both sides say

    def message(self, side: FrameStream, data: str | bytes) -> None:
        """Pass a message on to the test that owns the WebSocket."""
        kind = inbound.MessageFromPage if side is self._page else inbound.MessageFromServer
        if isinstance(data, str):
            self._send(kind(self.id, data, is_base64=False))
        else:
            self._send(kind(self.id, base64.b64encode(data).decode("ascii"), is_base64=True))

    def closed(self, side: FrameStream, code: int, reason: str, *, clean: bool) -> None:
        """Pass on that a side is closed."""
        self.resumeProducing()
        if side is self._page:
            if not self._gone:
                self._transport.unregisterProducer()
            self._closed_page(code, reason, clean=clean)
        else:
            self._server = None
            if self._raw_server is not None:
                self._raw_server.unregisterProducer()
            self._send(inbound.CloseServer(self.id, clean, code, reason))

    # The application's side

    def _accept(self, protocol: str | None) -> None:
        """Open the application's side, if it is not."""
        if self._page is not None or self._gone or self._refused:
            return
        self._transport.write(opening_handshake.acceptance(self._opening.key, protocol))
        self._page = self._speak_frames(self._transport, client=False)
        early, self._early = self._early, b""
        if early:
            self._page.data_received(early)

    def _speak_frames(self, transport: Any, *, client: bool) -> FrameStream:
        longest = self._context.settings.max_frame_bytes
        transport.registerProducer(self, True)  # noqa: FBT003 - Twisted's
        return FrameStream(transport, self, self._context.reactor, client=client, longest=longest)

    def _refuse(self, status: int, code: str, text: str) -> None:
        """Fail the application's WebSocket: by HTTP while it is held, else by a close."""
        self._refused = True
        self._settle()
        self._drop_server()
        if self._page is not None:
            self._page.close(1011, text)
        else:
            self._transport.write(error_response(status, code, text))
            self._transport.loseConnection()

    def _closed_page(self, code: int, reason: str, *, clean: bool) -> None:
        self._send(inbound.ClosePage(self.id, clean, code, reason))
        if self._raw_server is None and self._connecting is None:
            self._settle()
        else:
            self._timer = self._context.reactor.callLater(GRACE_SECONDS, self._drop_server)

    # The server's side

    def _dial(self) -> None:
        origin, context = self._target.origin, self._context
        limit, trust = context.settings.max_header_bytes, context.dialer.trust
        check = partial(trust.check_name, host=origin.host) if origin.scheme == "https" else None
        build = partial(WebSocketUpstream, self, limit, check)
        try:
            endpoint = context.dialer.websocket_endpoint(origin)
        except ValueError as error:
            self.server_lost(error)
            return
        reached_at = self._transport.getHost()
        self._connecting = context.dialer.connect(endpoint, build, origin, reached_at)
        self._connecting.addCallbacks(self._reached, self._not_reached)

    def _reached(self, server: WebSocketUpstream) -> None:
        if self._target.origin.scheme == "http":
            self.server_opened(server)

    def _not_reached(self, failure: Failure) -> None:
        error = failure.value
        if isinstance(error, UpstreamError) and error.code == LOOP_DETECTED:
            self._connecting = None
            self._failed(error)
        else:
            self.server_lost(error)

    def server_opened(self, server: WebSocketUpstream) -> None:
        self._connecting = None
        if self._gone:
            server.transport.abortConnection()
            return
        self._raw_server = server.transport
        if self._blind:
            pairs = opening_handshake.relayed_pairs(self._head)
        else:
            pairs = opening_handshake.opening_pairs(self._head, self._key, self._opening)
        host = self._target.origin.authority.encode("ascii")
        server.transport.write(request_block(b"GET", self._target.path, host, pairs, NONE))

    def server_answered(self, server: WebSocketUpstream, head: ResponseHead) -> None:
        """Take the answer to the handshake."""
        if self._blind:
            self._relay_answer(head)
            return
        try:
            protocol = opening_handshake.accepted_protocol(head, self._key, self._opening)
        except BadMessageError as error:
            self._raw_server = None
            self._failed(upstream_error(error, self._target.origin))
            server.transport.abortConnection()
            return
        self._server = self._speak_frames(server.transport, client=True)
        self._accept(protocol)
        waiting, self._to_server = self._to_server, []
        for data in waiting:
            self._server.send(data)

    def server_data(self, data: bytes) -> None:
        if self._blind:
            self._transport.write(data)
            self._tap.from_server(data)
        elif self._server is not None:
            self._server.data_received(data)

    def server_lost(self, error: BaseException | None) -> None:
        """Take it that the server's connection is gone, or never was."""
        raw, self._raw_server = self._raw_server, None
        self._connecting = None
        if self._server is not None:
            self._server.lost()
        elif self._blind and raw is not None and self._relayed:
            self._tap.server_lost()
            self._transport.unregisterProducer()
            self._transport.loseConnection()
        elif not self._gone and not self._refused and (self._blind or self._page is None):
            self._failed(upstream_error(error, self._target.origin))

    def _relay_answer(self, head: ResponseHead) -> None:
        """Pass the answer on; the two sides agree among themselves, extensions included."""
        self._relayed = True
        if head.status == _SWITCHING:
            pairs: Pairs = opening_handshake.relayed_pairs(head)
            block = response_block(head.status, head.reason, pairs, chunked=False, close=False)
            if self._context.settings.records_passthrough:
                self._tap.listen(head.fields.get(b"sec-websocket-extensions", b""))
        else:
            coding = head.fields.get(b"transfer-encoding")
            pairs = end_to_end(head)
            if coding is not None:
                pairs.append((b"transfer-encoding", coding))
            block = response_block(head.status, head.reason, pairs, chunked=False, close=True)
        self._transport.write(block)
        self._raw_server.registerProducer(self._transport, True)  # noqa: FBT003 - Twisted's
        self._transport.registerProducer(self._raw_server, True)  # noqa: FBT003 - Twisted's
        early, self._early = self._early, b""
        if early:
            self._raw_server.write(early)
            self._tap.from_page(early)

    def _failed(self, error: UpstreamError) -> None:
        """Tell everybody that there is no server."""
        if self._blind:
            self._proxy_client.record(
                records.SocketFailed(self.id, None, error.code, error.text, None)
            )
        else:
            self._send(
                inbound.CloseServer(self.id, was_clean=False, code=_ABNORMAL, reason=error.text)
            )
        self._refuse(error.status, error.code, error.text)

    def _send_to_server(self, data: str | bytes) -> None:
        if self._server is not None:
            self._server.send(data)
        elif self._connecting is not None or self._raw_server is not None:
            self._to_server.append(data)

    def _close_server(self, message: inbound.CloseServer) -> None:
        if self._server is not None:
            self._server.close(message.code or None, message.reason or "")
        elif self._connecting is not None or self._raw_server is not None:
            self._drop_server()
            self._send(inbound.CloseServer(self.id, was_clean=False, code=_ABNORMAL))

    def _drop_server(self) -> None:
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = None
        raw, self._raw_server = self._raw_server, None
        if raw is not None:
            raw.unregisterProducer()
            raw.abortConnection()
        connecting, self._connecting = self._connecting, None
        if connecting is not None:
            connecting.cancel()
        if self._gone:
            self._settle()

    # What both ends have in common

    def _send(self, message: Message) -> None:
        self._proxy_client.send(message)

    def _settle(self) -> None:
        self._proxy_client.receivers.pop(self.id, None)
