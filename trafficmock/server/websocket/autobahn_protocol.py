"""A WebSocket connection by Autobahn, with its own queue, limits, closing and error handling.

Besides Autobahn's hooks (``onOpen``, ``onMessageFrameBegin`` …) it uses some internals: it
overrides ``_closeConnection``, and reads or writes ``message_data``, ``message_data_total_length``,
``inside_message``, ``current_frame`` and ``failedByMe``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from autobahn.twisted.websocket import WebSocketServerProtocol
from autobahn.websocket.types import ConnectionRequest
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure

from trafficmock.server.http_channel import bare_answer
from trafficmock.server.websocket.link import HELLO_BYTES, Link
from trafficmock.server.websocket.oversized_frames import OversizedMessage
from trafficmock.server.websocket.send_queue import SendQueue
from trafficmock.server.websocket.write_coalescing import WriteCoalescer

if TYPE_CHECKING:
    from trafficmock.server.websocket.link import LinkHandler, WebSocketLimits
    from trafficmock.server.websocket.send_queue import DirectWrite

_INTERNAL_ERROR = 1011
_REASON_BYTES = 123
"""The longest reason of a close frame (RFC 6455 section 5.5)."""


class AutobahnProtocol(WebSocketServerProtocol):
    """Autobahn's server protocol, with its own queue, limits, closing and error handling.

    :param handler: handles the events of the connection.
    :param limits: the limits of the connection.
    :param coalescer: joins the writes of all connections.
    :param clock: limits the time of the closing handshake.
    """

    _logger = Logger()
    # Not "log": Autobahn has an attribute of that name.

    # Autobahn reads it before it copies the factory's options.
    tcpNoDelay = True  # noqa: N815 - Autobahn's name

    transport: Any
    message_data: list[bytes]
    _send_queue: SendQueue
    _link: Link | None = None
    _overlong: OversizedMessage | None = None
    _last_call: IDelayedCall | None = None
    _ended: Callable[[], None] | None = None

    def __init__(
        self,
        *,
        handler: LinkHandler,
        limits: WebSocketLimits,
        coalescer: WriteCoalescer,
        clock: IReactorTime,
    ) -> None:
        super().__init__()
        self._handler = handler
        self._limits = limits
        self._longest = min(HELLO_BYTES, limits.max_frame_bytes)
        self._coalescer = coalescer
        self._clock = clock

    def when_lost(self, ended: Callable[[], None]) -> None:
        """Set the function that is called once, when the connection is lost."""
        self._ended = ended

    # Events of the transport

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Make the send queue, through which all writes to the transport go."""
        self._send_queue = SendQueue(
            self.transport,
            write=self._direct_write(),
            limits=self._limits,
            coalescer=self._coalescer,
            owner=self,
        )
        super().connectionMade()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read messages, and join the writes that they cause."""
        with self._coalescer:
            self._read(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Report the end of the connection to the handler, and to the count of connections."""
        if self._ended is not None:
            self._ended()
        if self._last_call is not None and self._last_call.active():
            self._last_call.cancel()
        self._send_queue.discard()
        super().connectionLost(reason)
        link, self._link = self._link, None
        if link is not None:
            link.takes_messages = False
            link.closed_cleanly = bool(self.wasClean)
            with self._coalescer:
                self._tell(self._handler.link_closed, link)

    def _within_message(self) -> bool:
        """Return whether a message has arrived in part."""
        return self.inside_message or self.current_frame is not None

    # Events of Autobahn

    def onConnect(self, request: ConnectionRequest) -> str | None:  # noqa: N802 - Autobahn's name
        """Accept the first subprotocol that is offered, as the npm proxy does."""
        return request.protocols[0] if request.protocols else None

    def failHandshake(  # noqa: N802 - Autobahn's name
        self,
        reason: str,
        code: int = 400,
        responseHeaders: Iterable[tuple[str, str]] | None = None,  # noqa: N803 - Autobahn's name
    ) -> None:
        """Answer a malformed handshake with the service's JSON error."""
        self.wasNotCleanReason = reason
        headers = [(name.encode(), value.encode()) for name, value in responseHeaders or ()]
        text = f"This is no handshake of RFC 6455: {reason}."
        self.sendData(bare_answer(code, "bad_request", text, headers))
        self.dropConnection(abort=False)

    def onOpen(self) -> None:  # noqa: N802 - Autobahn's name
        """Make the link and report it to the driver."""
        link = Link(self, self._send_queue, _readable(self.transport))
        self._link = link
        with self._coalescer:
            self._guard(link, self._handler.link_opened, link)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803, FBT001, ARG002 - Autobahn's signature
        """Deliver a message, text or binary."""
        link = self._link
        if link is not None and link.takes_messages:
            self._guard(link, self._handler.link_received, link, payload)

    def onMessageFrameBegin(self, length: int) -> None:  # noqa: N802 - Autobahn's name
        """Begin to skip a message that is above the limit."""
        super().onMessageFrameBegin(length)
        size = self.message_data_total_length
        if self._overlong is None and size > self._longest and not self.failedByMe:
            self._overlong = OversizedMessage(size, self._longest)
            parts, self.message_data = self.message_data, []
            for part in parts:
                self._take_overlong(part)

    def onMessageFrameData(self, payload: bytes) -> None:  # noqa: N802 - Autobahn's name
        """Collect the data of a message; of one above the limit, only its head."""
        if self._link is None or not self._link.takes_messages:
            return
        if self._overlong is None:
            super().onMessageFrameData(payload)
        else:
            self._take_overlong(payload)

    def onMessageEnd(self) -> None:  # noqa: N802 - Autobahn's name
        """Deliver a message; one above the limit was reported already."""
        overlong, self._overlong = self._overlong, None
        if overlong is None:
            super().onMessageEnd()

    def sendData(  # noqa: N802 - Autobahn's name
        self,
        data: bytes,
        sync: bool = False,  # noqa: FBT001, FBT002, ARG002 - Autobahn's signature
        chopsize: int | None = None,  # noqa: ARG002
    ) -> None:
        """Queue the bytes that Autobahn writes."""
        self._send_queue.add((data,))

    def sendCloseFrame(  # noqa: N802 - Autobahn's name
        self,
        code: int | None = None,
        reasonUtf8: bytes | None = None,  # noqa: N803 - Autobahn's name
        isReply: bool = False,  # noqa: N803, FBT001, FBT002 - Autobahn's signature
    ) -> None:
        """Send a close frame, stop delivering messages, and limit the time until the end."""
        if self._link is not None and self._link.takes_messages:
            self._link.takes_messages = False
            # Reading may be paused, and the peer's close frame has to be read.
            self.transport.resumeProducing()
        super().sendCloseFrame(code=code, reasonUtf8=reasonUtf8, isReply=isReply)
        self._bound_the_end()

    def unregisterProducer(self) -> None:  # noqa: N802 - Autobahn's name
        """Do nothing: the transport must wait for the send queue before it closes."""

    def _closeConnection(self, abort: bool = False) -> None:  # noqa: N802, FBT001, FBT002 - Autobahn's
        """Close the connection once the queue is empty; abort it if it has not closed cleanly."""
        if abort and not self.wasClean:
            self.cut()
            return
        self._send_queue.flush()
        self._bound_the_end()
        self.transport.loseConnection()

    # Calls of the link

    def welcome(self) -> None:
        self._longest = self._limits.max_frame_bytes

    def send_close(self, code: int, reason: str) -> None:
        with self._coalescer:
            cut = reason.encode()[:_REASON_BYTES].decode(errors="ignore").encode()
            self.sendCloseFrame(code=code, reasonUtf8=cut)

    def cut(self) -> None:
        """Abort the connection and drop its queue; the handler is called when it is lost."""
        if self._link is not None:
            self._link.takes_messages = False
        self._send_queue.discard()
        self.transport.abortConnection()

    # Events of the send queue

    def send_queue_backlogged(self) -> None:
        if self._link is not None:
            self._tell(self._handler.link_backlogged, self._link)

    def send_queue_drained(self) -> None:
        if self._link is not None:
            self._tell(self._handler.link_drained, self._link)

    def send_queue_overflowed(self, queued: int) -> None:
        """Abort a connection whose peer reads too slowly, to bound the memory of its queue."""
        self._logger.warn(
            "Connection {peer} cut: {queued} bytes wait for it to read, more than the "
            "{limit} of --send-queue-bytes. Look why it does not read, or raise the limit.",
            peer=_readable(self.transport),
            queued=queued,
            limit=self._limits.send_queue_bytes,
        )
        self.cut()

    # Overridden by FastProtocol

    def _read(self, data: bytes) -> None:
        super().dataReceived(data)
        self._count_arriving(data)

    def _direct_write(self) -> DirectWrite | None:
        return None

    # Private

    def _guard(self, link: Link, tell: Callable[..., None], *arguments: Any) -> None:
        """Call the handler; an exception is logged and closes this connection only."""
        try:
            tell(*arguments)
        except Exception:  # noqa: BLE001 - whatever it is, Autobahn would keep it to itself
            self._logger.failure("Closing {peer} after an internal error", peer=link.peer)
            link.close(_INTERNAL_ERROR, "Internal error")

    def _count_arriving(self, data: bytes) -> None:
        """Count the received bytes of an incomplete message."""
        if self._link is not None and self._within_message():
            self._link.arriving_bytes += len(data)

    def _take_overlong(self, part: bytes) -> None:
        link, overlong = self._link, self._overlong
        if (
            link is not None
            and link.takes_messages
            and overlong is not None
            and overlong.take(part)
        ):
            self._guard(link, self._handler.link_overlong, link, overlong)

    def _tell(self, tell: Callable[[Link], None], link: Link) -> None:
        self._guard(link, tell, link)

    def _bound_the_end(self) -> None:
        if self._last_call is None:
            self._last_call = self._clock.callLater(self._limits.close_timeout, self.cut)


def _readable(transport: Any) -> str:
    """Return the peer's address as text; a UNIX socket has none."""
    peer = transport.getPeer()
    host, port = getattr(peer, "host", None), getattr(peer, "port", None)
    if host is None:
        return "a local socket"
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
