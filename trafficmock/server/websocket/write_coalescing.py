"""Joins the writes of one reactor turn, for all connections."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

PROBE_EVERY = 16
"""Every so many reads the coalescer measures how many connections are read in one turn."""

DEFERRABLE_GAP = 0.001
"""Seconds between two writes of deferrable messages."""


class Flushable(Protocol):
    """A queue that writes when it is flushed."""

    def flush(self) -> None:
        """Write the queued bytes."""


@define(eq=False)
class WriteCoalescer:
    """Flushes the send queues of all connections; received bytes are handled ``with coalescer:``.

    A received message may cause several messages to several connections; each queue is written
    once, after the message is handled. While the reactor reads from several connections in one
    turn, the queues are written at the end of the turn. That needs a call of the reactor, which
    costs more than it saves if only one connection is read; so every :data:`PROBE_EVERY` reads the
    coalescer measures which is the case.

    Messages that are not urgent, such as observations of requests that another worker decides, are
    *deferrable*. They are written with the next urgent message to the same connection, and at the
    latest :data:`DEFERRABLE_GAP` after deferrable messages were last written: with little traffic
    at once, with much in few writes.

    :param clock: schedules calls at the end of the reactor's turn.
    """

    _clock: IReactorTime
    _waiting: list[Flushable] = field(factory=list)
    _depth: int = 0
    _handled: int = 0
    _called: bool = False
    _gathering: bool = False
    _deferrable: dict[Flushable, None] = field(factory=dict)
    _deferrable_at: float = 0.0
    _deferrable_called: bool = False

    def add(self, queue: Flushable) -> None:
        """Flush a queue at the end of the handling or of the turn; a queue adds itself once."""
        self._waiting.append(queue)
        if not self._depth:
            self._call_at_end(handled=0)

    def add_deferrable(self, queue: Flushable) -> None:
        """Flush a queue of deferrable messages in time; adding it again changes nothing."""
        self._deferrable[queue] = None
        if not self._depth and self._is_time_for_deferrable():
            self._call_at_end(handled=0)

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth:
            return
        self._handled += 1
        if self._deferrable:
            self._is_time_for_deferrable()
        if not self._gathering and self._waiting:
            self._flush()
        if self._gathering or self._handled == PROBE_EVERY:
            self._call_at_end(handled=1)

    def _is_time_for_deferrable(self) -> bool:
        """Flush deferrable messages with the others if the gap has passed, else set a timer."""
        if self._deferrable_called:
            return False
        since = self._clock.seconds() - self._deferrable_at
        if 0 <= since < DEFERRABLE_GAP:
            self._deferrable_called = True
            self._clock.callLater(DEFERRABLE_GAP - since, self._send_deferrable)
            return False
        self._release_deferrable()
        return True

    def _send_deferrable(self) -> None:
        self._deferrable_called = False
        self._release_deferrable()
        self._flush()

    def _release_deferrable(self) -> None:
        self._deferrable_at = self._clock.seconds()
        self._waiting.extend(self._deferrable)
        self._deferrable.clear()

    def _call_at_end(self, *, handled: int) -> None:
        if not self._called:
            self._called = True
            self._handled = handled
            self._clock.callLater(0, self._end)

    def _end(self) -> None:
        self._called = False
        self._gathering = self._handled > 1
        self._handled = 0
        self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for queue in waiting:
            queue.flush()
