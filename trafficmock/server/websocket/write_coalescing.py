"""Joins the writes of one reactor turn over all connections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import define, field

if TYPE_CHECKING:
    from types import TracebackType

    from twisted.internet.interfaces import IReactorTime

PROBE_EVERY = 16
"""How often it is looked whether the reactor finds more than one thing to handle."""

DEFERRABLE_GAP = 0.001
"""Seconds between two writings of what nobody waits for."""


class Flushable(Protocol):
    """A queue that writes when it is flushed."""

    def flush(self) -> None:
        """Write the queued bytes."""


@define(eq=False)
class WriteCoalescer:
    """One for all connections: ``with coalescer:`` around the handling of what came in.

    A message that is relayed wakes several queues, and some of them several times. Each
    writes once, when all is handled. As long as the reactor finds several connections to
    read from at a time, the writing waits until all of them have been; that call to the
    reactor would cost more than it saves when there is only one, so it is tried now and
    then whether it would pay.

    What nobody waits for (observations of requests that are another worker's) is deferrable: it
    leaves with the next message to the same connection that somebody does wait for, and at the
    latest when :data:`DEFERRABLE_GAP` has passed since such messages were last written: at once
    when little happens, in few writes when much does.

    :param clock: runs what is to be done at the end of the reactor's turn.
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
        """Have a queue flushed soon; it adds itself once until then."""
        self._waiting.append(queue)
        if not self._depth:
            self._call_at_end(handled=0)

    def add_deferrable(self, queue: Flushable) -> None:
        """Have a queue flushed when it is time for that; adding it again changes nothing."""
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
        """Send deferred messages with the rest if it is time, else set a timer for them."""
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
