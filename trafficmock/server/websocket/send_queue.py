"""What one connection still has to be sent, and how it gets to the kernel."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.interfaces import IPullProducer
from zope.interface import implementer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trafficmock.server.websocket.link import WebSocketLimits
    from trafficmock.server.websocket.write_coalescing import WriteCoalescer

    DirectWrite = Callable[[Sequence[bytes | memoryview]], int]
    """Tries to write pieces, gives the number of bytes that were taken, and never raises."""

CHUNK_BYTES = 128 * 1024
"""Handed to the transport at a time: what Twisted sends in one go."""

_MOST_PIECES = 512
"""Written at a time; the kernel takes 1024."""


class SendQueueOwner(Protocol):
    """Handles the events of a send queue."""

    def send_queue_backlogged(self) -> None:
        """More than the high-water mark is queued."""

    def send_queue_drained(self) -> None:
        """No more than the low-water mark is queued again."""

    def send_queue_overflowed(self, queued: int) -> None:
        """Too much was queued when there was more to send; that has not been queued."""


@implementer(IPullProducer)
class SendQueue:
    """First in, first out; nothing is copied that the kernel takes at once.

    While the transport holds nothing of ours, a direct write goes past it. What the kernel
    does not take is handed to the transport in chunks, each when the last one is gone, so
    that the progress of a slow reader shows.

    :param transport: a consumer without a producer. It may still hold bytes of others.
    :param write: writes past the transport; without it everything goes through the transport.
    :param limits: the water marks and the limit.
    :param coalescer: says when to write.
    :param owner: handles backlogs.
    """

    def __init__(
        self,
        transport: Any,
        *,
        write: DirectWrite | None,
        limits: WebSocketLimits,
        coalescer: WriteCoalescer,
        owner: SendQueueOwner,
    ) -> None:
        self.queued_bytes = 0
        self.drained_total = 0
        self._transport = transport
        self._write = write
        self._limits = limits
        self._calm_bytes = min(limits.high_water, limits.send_queue_bytes)
        self._coalescer = coalescer
        self._owner = owner
        self._pieces: deque[bytes | memoryview] = deque()
        self._deferred: list[bytes] = []
        self._handed = 0
        # Where large messages begin and end, counted in bytes since the connection began.
        self._large: deque[tuple[int, int]] = deque()
        self._waits_for_turn = False
        self._producing = False
        # Until it has asked for more, the transport may hold what somebody else wrote.
        self._empty_transport = False
        self._backlogged = False
        self._closed = False

    def add(self, frame: Sequence[bytes]) -> None:
        """Queue the pieces of a frame, by reference."""
        if self._closed:
            return
        if self._deferred:
            self._queue_deferred()
        self._queue(frame)
        if self._pieces and not (self._waits_for_turn or self._producing):
            self._waits_for_turn = True
            self._coalescer.add(self)

    def defer(self, frame: Sequence[bytes]) -> None:
        """Queue the pieces of a frame that nobody waits for; see ``WriteCoalescer``.

        They are counted when the next frame is added, or when the coalescer says that it is
        time: within a millisecond.
        """
        deferred = self._deferred
        if not deferred:
            self._coalescer.add_deferrable(self)
        deferred.extend(frame)

    def flush(self) -> None:
        """Write what is queued, or have it written as the other side takes it."""
        self._waits_for_turn = False
        if self._deferred:
            self._queue_deferred()
        if self._pieces and not self._producing:
            self._write_or_produce()

    def _write_or_produce(self) -> None:
        self._write_directly()
        if self._pieces:
            self._producing = True
            self._transport.registerProducer(self, streaming=False)
            self._look_at_high_water()

    def discard(self) -> None:
        """Forget everything and take nothing more: the connection is gone or cut."""
        self._closed = True
        self._pieces.clear()
        self._deferred.clear()
        self._large.clear()
        self.queued_bytes = 0
        self._handed = 0

    # What the transport asks of a producer

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Hand over the next chunk: the transport has sent what it had."""
        if self._closed:
            return
        if self._handed:
            self.queued_bytes -= self._handed
            self.drained_total += self._handed
            self._handed = 0
            self._empty_transport = True
            self._write_directly()
        if self._pieces:
            chunk = self._next_chunk()
            self._handed = len(chunk)
            self._transport.write(chunk)
        else:
            self._producing = False
            self._transport.unregisterProducer()
        self._look_at_low_water()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Handle the loss of the connection."""
        self.discard()

    # Within

    def _queue(self, pieces: Sequence[bytes]) -> None:
        size = len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces))
        queued = self.queued_bytes + size
        if queued > self._calm_bytes:
            self._queue_much(pieces, size)
            return
        self._pieces.extend(pieces)
        self.queued_bytes = queued

    def _queue_much(self, pieces: Sequence[bytes], size: int) -> None:
        """Look at the limits, and tell who may have to hold the senders back."""
        limits = self._limits
        if self.queued_bytes > limits.send_queue_bytes and not self._has_room():
            return
        before = self.queued_bytes
        self._pieces.extend(pieces)
        queued = self.queued_bytes = before + size
        if queued <= limits.high_water:
            return
        if size > limits.high_water:
            self._left_of_large()
            self._large.append((self.drained_total + before, self.drained_total + queued))
        if self._producing:
            self._look_at_high_water()
        else:
            # Large messages gain nothing by waiting, and the sender may have to be held back.
            self._write_or_produce()

    def _queue_deferred(self) -> None:
        deferred, self._deferred = self._deferred, []
        if not self._closed:
            self._queue(deferred)

    def _has_room(self) -> bool:
        """Look whether another frame may wait; else the connection is cut off."""
        self.flush()
        queued = self.queued_bytes
        if queued - self._left_of_large() <= self._limits.send_queue_bytes:
            return True
        self._owner.send_queue_overflowed(queued)
        return False

    def _left_of_large(self) -> int:
        """Count the bytes still queued of the first large message.

        It says nothing about how fast the other side reads: one message may be larger
        than all that may wait, and whoever reads as well as he can must not be cut off
        because of it.
        """
        large, sent = self._large, self.drained_total
        while large and large[0][1] <= sent:
            large.popleft()
        return large[0][1] - max(large[0][0], sent) if large else 0

    def _write_directly(self) -> None:
        if self._write is None or not self._empty_transport:
            return
        pieces = self._pieces
        while pieces:
            some = list(islice(pieces, _MOST_PIECES)) if len(pieces) > _MOST_PIECES else pieces
            taken = self._write(some)
            self.drained_total += taken
            left = self.queued_bytes = self.queued_bytes - taken
            if not left:
                pieces.clear()
                return
            if not taken:
                return
            self._drop(taken)

    def _drop(self, taken: int) -> None:
        pieces = self._pieces
        while taken:
            first = pieces.popleft()
            if len(first) > taken:
                pieces.appendleft(memoryview(first)[taken:])
                return
            taken -= len(first)

    def _next_chunk(self) -> bytes:
        """Remove bytes from the queue, few enough to be copied."""
        pieces, chosen, room = self._pieces, [], CHUNK_BYTES
        while pieces and room:
            piece = pieces.popleft()
            if len(piece) > room:
                view = memoryview(piece)
                pieces.appendleft(view[room:])
                piece = view[:room]
            chosen.append(piece)
            room -= len(piece)
        return b"".join(chosen)

    def _look_at_high_water(self) -> None:
        if self.queued_bytes > self._limits.high_water and not self._backlogged:
            self._backlogged = True
            self._owner.send_queue_backlogged()

    def _look_at_low_water(self) -> None:
        if self._backlogged and self.queued_bytes <= self._limits.low_water:
            self._backlogged = False
            self._owner.send_queue_drained()
