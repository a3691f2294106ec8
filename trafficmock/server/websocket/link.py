"""A WebSocket connection as the rest of the service sees it, its limits and its handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from attrs import define, field, frozen

from trafficmock.wire.limits import MAX_MESSAGE_BYTES, or_unlimited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
    from trafficmock.server.websocket.oversized_frames import OversizedMessage
    from trafficmock.server.websocket.send_queue import SendQueue

_KIB = 1024
_MIB = 1024 * _KIB

HELLO_BYTES = 64 * _KIB
"""The largest message of a client that has not introduced itself: room for any ``hello``."""


@frozen(kw_only=True)
class WebSocketLimits:
    """The limits of one connection; sizes in bytes, 0 is no limit.

    :param max_frame_bytes: the largest message taken from a client, fragments added up. A
        longer one is read past and answered for by its head; one very much longer closes the
        connection with 1009.
    :param send_queue_bytes: what may wait to be sent before the next message, one large
        message not counted; a connection that lags behind further is cut off.
    :param high_water: queued bytes above which a link counts as backlogged.
    :param low_water: queued bytes at which it has drained again.
    :param close_timeout: seconds from the last frame sent to the end of the connection, whether
        the other side answers or not.
    """

    max_frame_bytes: int = field(default=MAX_MESSAGE_BYTES, converter=or_unlimited)
    send_queue_bytes: int = field(default=64 * _MIB, converter=or_unlimited)
    high_water: int = field(default=_MIB, converter=or_unlimited)
    low_water: int = 256 * _KIB
    close_timeout: float = 5.0


@define(eq=False)
class Link:
    """One open WebSocket connection, as its protocol makes it.

    :param peer: where the other side is, for logs: ``127.0.0.1:51234``.
    :param id: free for the handler to set; empty at first.
    """

    _protocol: AutobahnProtocol
    _send_queue: SendQueue
    peer: str
    id: str = ""
    takes_messages: bool = field(default=True, init=False)
    """Whether messages are still delivered."""
    closed_cleanly: bool = field(default=False, init=False)
    """Whether the other side has sent a close frame, set when the link is gone."""
    arriving_bytes: int = field(default=0, init=False)
    """Bytes that came without making a message whole: it grows while the other side sends a
    large one."""
    shared: ClassVar[bool] = True

    @property
    def queued_bytes(self) -> int:
        """Bytes on their way out that the kernel has not taken yet."""
        return self._send_queue.queued_bytes

    @property
    def drained_total(self) -> int:
        """Bytes that the kernel has taken so far: it grows while the other side reads."""
        return self._send_queue.drained_total

    def send(self, frame: Sequence[bytes]) -> None:
        """Send one text message; after :meth:`close` or :meth:`abort` nothing happens.

        Messages sent while one is handled leave together when that is done.

        :param frame: its pieces, of :func:`~trafficmock.server.websocket.data_frames.text_frame`;
            kept by reference.
        """
        if self.takes_messages:
            self._send_queue.add(frame)

    def defer(self, frame: Sequence[bytes]) -> None:
        """Send a text message that nobody waits for, as :meth:`send` does.

        It may leave a millisecond later, and together with what comes behind it.
        """
        if self.takes_messages:
            self._send_queue.defer(frame)

    def welcome(self) -> None:
        """Take messages of full size: until then they have :data:`HELLO_BYTES` at most."""
        self._protocol.welcome()

    def close(self, code: int, reason: str) -> None:
        """Send a close frame behind what is queued; no message is delivered from now on.

        :param code: a close code that may be sent (RFC 6455 section 7.4).
        :param reason: cut to the 123 bytes that a close frame has room for.
        """
        if self.takes_messages:
            self._protocol.send_close(code, reason)

    def abort(self) -> None:
        """Cut the connection without a close frame; no message is delivered from now on."""
        self._protocol.cut()

    def pause(self) -> None:
        """Stop reading; what was read already is still delivered. Pausing twice is one pause."""
        if self.takes_messages:
            self._protocol.transport.pauseProducing()

    def resume(self) -> None:
        if self.takes_messages:
            self._protocol.transport.resumeProducing()


class LinkHandler(Protocol):
    """Handles the events of all links.

    What it raises is logged and closes the link that it was called about.
    """

    def link_opened(self, link: Link) -> None:
        """Take a new link."""

    def link_received(self, link: Link, payload: bytes) -> None:
        """Take one text or binary message; whether it is UTF-8 has not been checked."""

    def link_overlong(self, link: Link, message: OversizedMessage) -> None:
        """Answer for a message over the limit, of which only the head is there."""

    def link_closed(self, link: Link) -> None:
        """Forget a link: called once for each opened one, however it ended."""

    def link_backlogged(self, link: Link) -> None:
        """Note that more than the high-water mark is queued; may be called within ``send``."""

    def link_drained(self, link: Link) -> None:
        """Note that a backlogged link has no more than the low-water mark queued again."""
