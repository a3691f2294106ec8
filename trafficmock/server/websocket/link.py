"""The interface of a WebSocket connection for the driver, its limits and its handler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from attrs import define, field, frozen

from trafficmock.server.websocket.oversized_frames import OversizedMessage
from trafficmock.wire.limits import MAX_MESSAGE_BYTES, or_unlimited

if TYPE_CHECKING:
    from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
    from trafficmock.server.websocket.send_queue import SendQueue

_KIB = 1024
_MIB = 1024 * _KIB

HELLO_BYTES = 64 * _KIB
"""The largest message before ``hello:ok``: enough for any ``hello``."""


@frozen(kw_only=True)
class WebSocketLimits:
    """The limits of one connection; sizes in bytes, 0 is no limit.

    :param max_frame_bytes: the largest message of a client, all fragments together. A longer one is
        skipped and answered with an error by the ids in its head; one longer than
        :data:`~trafficmock.server.websocket.oversized_frames.READ_PAST` times the limit closes the
        connection with 1009.
    :param send_queue_bytes: bytes that may be queued when another message is sent, without the
        first large message; a connection with more is aborted.
    :param high_water: queued bytes above which a link counts as backlogged.
    :param low_water: queued bytes at which a backlogged link counts as drained.
    :param close_timeout: seconds from the close frame to the end of the connection, whether the
        peer answers or not.
    """

    max_frame_bytes: int = field(default=MAX_MESSAGE_BYTES, converter=or_unlimited)
    send_queue_bytes: int = field(default=64 * _MIB, converter=or_unlimited)
    high_water: int = field(default=_MIB, converter=or_unlimited)
    low_water: int = 256 * _KIB
    close_timeout: float = 5.0


@define(eq=False)
class Link:
    """One open WebSocket connection.

    :param peer: the peer's address, for logs: ``127.0.0.1:51234``.
    :param id: the connection id, set by the handler.
    """

    _protocol: AutobahnProtocol
    _send_queue: SendQueue
    peer: str
    id: str = ""
    takes_messages: bool = field(default=True, init=False)
    """Whether messages are still delivered."""
    closed_cleanly: bool = field(default=False, init=False)
    """Whether close frames were exchanged; set when the connection is lost."""
    arriving_bytes: int = field(default=0, init=False)
    """Received bytes of incomplete messages: it grows while the peer sends a large one."""
    shared: ClassVar[bool] = True

    @property
    def queued_bytes(self) -> int:
        """Bytes that the kernel has not taken yet."""
        return self._send_queue.queued_bytes

    @property
    def drained_total(self) -> int:
        """Bytes that the kernel has taken so far: it grows while the peer reads."""
        return self._send_queue.drained_total

    def send(self, frame: Sequence[bytes]) -> None:
        """Send a text message; after :meth:`close` or :meth:`abort` it is dropped.

        Messages that are sent while a message is handled are written together afterwards.

        :param frame: the pieces of :func:`~trafficmock.server.websocket.data_frames.text_frame`,
            which are not copied.
        """
        if self.takes_messages:
            self._send_queue.add(frame)

    def defer(self, frame: Sequence[bytes]) -> None:
        """Send a text message that is not urgent, in order with those of :meth:`send`.

        It may be written a millisecond later, together with following messages.
        """
        if self.takes_messages:
            self._send_queue.defer(frame)

    def welcome(self) -> None:
        """Raise the limit of messages from :data:`HELLO_BYTES` to ``max_frame_bytes``."""
        self._protocol.welcome()

    def close(self, code: int, reason: str) -> None:
        """Send a close frame after the queued frames; messages are not delivered any more.

        :param code: a close code that may be sent (RFC 6455 section 7.4).
        :param reason: cut to 123 bytes (RFC 6455 section 5.5).
        """
        if self.takes_messages:
            self._protocol.send_close(code, reason)

    def abort(self) -> None:
        """Abort the connection without a close frame; messages are not delivered any more."""
        self._protocol.cut()

    def pause(self) -> None:
        """Stop reading; messages that were read already are still delivered."""
        if self.takes_messages:
            self._protocol.transport.pauseProducing()

    def resume(self) -> None:
        if self.takes_messages:
            self._protocol.transport.resumeProducing()


class LinkHandler(Protocol):
    """Handles the events of all links.

    An exception in a handler is logged and closes the link concerned.
    """

    def link_opened(self, link: Link) -> None:
        """Handle a new link."""

    def link_received(self, link: Link, payload: bytes) -> None:
        """Handle a text or binary message, which is not checked to be UTF-8."""

    def link_overlong(self, link: Link, message: OversizedMessage) -> None:
        """Handle a message above the limit, of which only the head is kept."""

    def link_closed(self, link: Link) -> None:
        """Handle the end of a link; called once for each one."""

    def link_backlogged(self, link: Link) -> None:
        """Handle a queue above the high-water mark; may be called within :meth:`Link.send`."""

    def link_drained(self, link: Link) -> None:
        """Handle the queue of a backlogged link that is down to the low-water mark."""
