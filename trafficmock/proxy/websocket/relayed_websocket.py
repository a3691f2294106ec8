"""A WebSocket that no test owns: its bytes are forwarded, and its messages recorded."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall

from trafficmock import records
from trafficmock.proxy.http1.attached_clients import failure_lines
from trafficmock.proxy.http1.forwarded_headers import end_to_end, response_block
from trafficmock.proxy.http1.heads import Pairs, RequestHead, ResponseHead
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.request_target import Target
from trafficmock.proxy.upstream_errors import error_response, upstream_error
from trafficmock.proxy.websocket import opening_handshake
from trafficmock.proxy.websocket.frame_tap import FrameTap
from trafficmock.proxy.websocket.websocket_upstream import WebSocketUpstream, dial
from trafficmock.records import Record

FLUSH_SECONDS = 30
"""How long the last bytes of a client that is gone may take to reach the server."""

_SWITCHING = 101


class RelayState(Enum):
    """The states of a relay, in their order."""

    CONNECTING = "the server is being connected, or its response to the handshake is awaited"
    RELAYING = "bytes are forwarded in both directions"
    OVER = "a side is gone"


class RelayedWebSocket:
    """Forwards the bytes of both sides of a WebSocket.

    :param id_: the id of the WebSocket.
    :param client: the client's transport.
    :param head: the client's handshake.
    :param record: writes a record into the history; ``None`` in a browser proxy, which records
        nothing.
    :param early: the bytes that the client has sent behind it.
    """

    def __init__(
        self,
        id_: str,
        client: Any,
        record: Callable[[Record], None] | None,
        resources: ProxyResources,
        *,
        head: RequestHead,
        target: Target,
        early: bytes = b"",
    ) -> None:
        self._id = id_
        self._client = client
        self._record = record
        self._resources = resources
        self._head = head
        self._target = target
        self._early = early
        self._state = RelayState.CONNECTING
        self._server: Any = None
        self._dialling: Deferred[Any] | None = None
        self._flushing: IDelayedCall | None = None
        self._tap = FrameTap(id_, record)

    def start(self) -> None:
        """Connect to the server."""
        reached_at = self._client.getHost()
        self._dialling = dial(self, self._resources, self._target.origin, reached_at)

    # The client's side

    def data_received(self, data: bytes) -> None:
        if self._state is RelayState.RELAYING:
            self._server.write(data)
            self._tap.from_page(data)
        elif self._state is RelayState.CONNECTING:
            self._early += data
            if len(self._early) > self._resources.settings.max_header_bytes:
                self._client.abortConnection()

    def half_closed(self) -> None:
        """End the WebSocket at the client's FIN."""
        self._client.loseConnection()

    def lost(self) -> None:
        """Handle the loss of the client's connection: close the server's.

        The client's last bytes are still sent to the server, for :data:`FLUSH_SECONDS` at most.
        """
        state, self._state = self._state, RelayState.OVER
        self._tap.page_lost()
        dialling, self._dialling = self._dialling, None
        if dialling is not None:
            dialling.cancel()
        if self._server is None:
            return
        self._server.unregisterProducer()
        if state is RelayState.RELAYING:
            self._server.loseConnection()
            abort = self._server.abortConnection
            self._flushing = self._resources.reactor.callLater(FLUSH_SECONDS, abort)
        else:
            self._server.abortConnection()

    # The server's side

    def server_opened(self, server: WebSocketUpstream) -> None:
        """Forward the client's handshake."""
        if self._state is RelayState.OVER:
            server.transport.abortConnection()
            return
        self._server = server.transport
        server.send_handshake(self._target, opening_handshake.relayed_pairs(self._head))

    def server_answered(self, server: WebSocketUpstream, head: ResponseHead) -> None:
        """Forward the response to the handshake, with the extensions that the server chose."""
        self._state = RelayState.RELAYING
        if head.status == _SWITCHING:
            pairs: Pairs = opening_handshake.relayed_pairs(head)
            block = response_block(head.status, head.reason, pairs, chunked=False, close=False)
            if self._resources.settings.records_passthrough:
                self._tap.listen(head.fields.get(b"sec-websocket-extensions", b""))
        else:
            coding = head.fields.get(b"transfer-encoding")
            pairs = end_to_end(head)
            if coding is not None:
                pairs.append((b"transfer-encoding", coding))
            block = response_block(head.status, head.reason, pairs, chunked=False, close=True)
        self._client.write(block)
        server.transport.registerProducer(self._client, True)  # noqa: FBT003 - Twisted's
        self._client.registerProducer(server.transport, True)  # noqa: FBT003 - Twisted's
        early, self._early = self._early, b""
        if early:
            self.data_received(early)

    def server_data(self, data: bytes) -> None:
        if self._state is RelayState.RELAYING:
            self._client.write(data)
            self._tap.from_server(data)

    def server_lost(self, error: BaseException | None) -> None:
        """Handle the loss of the server's connection, or the failure to open it."""
        state, self._state = self._state, RelayState.OVER
        self._server = None
        if self._flushing is not None and self._flushing.active():
            self._flushing.cancel()
        if state is RelayState.RELAYING:
            self._tap.server_lost()
            self._client.unregisterProducer()
            self._client.loseConnection()
        elif state is RelayState.CONNECTING:
            failed = upstream_error(error, self._target.origin)
            if self._record is not None:
                text = failed.text
                self._record(records.SocketFailed(self._id, None, failed.code, text, None))
            lines = failure_lines(self._head, failed.errno or failed.code, failed.text)
            answer = error_response(failed.status, failed.code, failed.text, headers=lines)
            self._client.write(answer)
            self._client.loseConnection()
