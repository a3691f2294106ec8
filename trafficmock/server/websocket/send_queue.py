"""Queues the frames of one connection until the kernel takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.interfaces import IPullProducer
from zope.interface import implementer

from trafficmock.server.websocket.write_coalescing import WriteCoalescer

if TYPE_CHECKING:
    from trafficmock.server.websocket.link import WebSocketLimits

DirectWrite = Callable[[Sequence[bytes | memoryview]], int]
"""Writes pieces to the socket and returns the number of bytes taken; it raises nothing."""

CHUNK_BYTES = 128 * 1024
"""Bytes that are given to the transport at a time: the most that Twisted sends at once."""

_MOST_PIECES = 512
"""Pieces written in one call; Linux takes 1024 (``IOV_MAX``)."""


class SendQueueOwner(Protocol):
    """Handles the events of a send queue."""

    def send_queue_backlogged(self) -> None:
        """Handle a queue above the high-water mark."""

    def send_queue_drained(self) -> None:
        """Handle a queue that is down to the low-water mark again."""

    def send_queue_overflowed(self, queued: int) -> None:
        """Handle a queue that was above the limit when a frame was added; it was not queued."""


@implementer(IPullProducer)
class SendQueue:
    """A queue of frames, first in, first out; bytes that the kernel takes at once are not copied.

    While the transport's buffer is empty, frames are written directly to the socket. Bytes that the
    kernel does not take are given to the transport in chunks, each after the last one was sent, so
    that the progress of a slow reader can be measured.

    :param transport: a consumer without a producer. Its buffer may have bytes of other writers.
    :param write: writes to the socket; ``None`` writes all to the transport.
    :param limits: the water marks and the limit.
    :param coalescer: calls :meth:`flush`.
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
        # Begin and end of large messages, in bytes since the connection began.
        self._large: deque[tuple[int, int]] = deque()
        self._waits_for_turn = False
        self._producing = False
        # The transport may hold bytes of other writers until it has asked for more.
        self._empty_transport = False
        self._backlogged = False
        self._closed = False

    def add(self, frame: Sequence[bytes]) -> None:
        """Queue the pieces of a frame, without copying them."""
        if self._closed:
            return
        if self._deferred:
            self._queue_deferred()
        self._queue(frame)
        if self._pieces and not (self._waits_for_turn or self._producing):
            self._waits_for_turn = True
            self._coalescer.add(self)

    def defer(self, frame: Sequence[bytes]) -> None:
        """Queue the pieces of a frame that is not urgent; see :class:`WriteCoalescer`.

        They count as queued from the next :meth:`add` or :meth:`flush` on, within a millisecond.
        """
        deferred = self._deferred
        if not deferred:
            self._coalescer.add_deferrable(self)
        deferred.extend(frame)

    def flush(self) -> None:
        """Write the queued bytes; the rest is written as the peer reads."""
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
        """Drop all frames and accept no more, because the connection is lost or aborted."""
        self._closed = True
        self._pieces.clear()
        self._deferred.clear()
        self._large.clear()
        self.queued_bytes = 0
        self._handed = 0

    # The producer of the transport

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Give the transport the next chunk: its buffer is empty."""
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

    # Private

    def _queue(self, pieces: Sequence[bytes]) -> None:
        size = len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces))
        queued = self.queued_bytes + size
        if queued > self._calm_bytes:
            self._queue_much(pieces, size)
            return
        self._pieces.extend(pieces)
        self.queued_bytes = queued

    def _queue_much(self, pieces: Sequence[bytes], size: int) -> None:
        """Check the limits before queueing, and report a backlog."""
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
            # Large messages gain nothing by coalescing, and a backlog must be reported now.
            self._write_or_produce()

    def _queue_deferred(self) -> None:
        deferred, self._deferred = self._deferred, []
        if not self._closed:
            self._queue(deferred)

    def _has_room(self) -> bool:
        """Return whether another frame may be queued; if not, report the overflow."""
        self.flush()
        queued = self.queued_bytes
        if queued - self._left_of_large() <= self._limits.send_queue_bytes:
            return True
        self._owner.send_queue_overflowed(queued)
        return False

    def _left_of_large(self) -> int:
        """Return the bytes of the first large message that are still queued.

        They do not show how fast the peer reads: one message may be larger than the limit of the
        queue, and a peer that reads as fast as it can must not be aborted because of it.
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
        """Remove and join up to :data:`CHUNK_BYTES` of the queue."""
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
