"""Collects what is sent while something is handled, so that it leaves in few writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import define, field

if TYPE_CHECKING:
    from types import TracebackType

    from twisted.internet.interfaces import IReactorTime

PROBE_EVERY = 16
"""How often it is looked whether the reactor finds more than one thing to handle."""


class Flushable(Protocol):
    """Something that holds back until it is told to write."""

    def flush(self) -> None:
        """Write what was held back."""


@define(eq=False)
class Turn:
    """One for all connections: ``with turn:`` around the handling of what came in.

    A message that is relayed wakes several queues, and some of them several times. Each
    writes once, when all is handled. As long as the reactor finds several connections to
    read from at a time, the writing waits until all of them have been; that call to the
    reactor would cost more than it saves when there is only one, so it is tried now and
    then whether it would pay.

    :param clock: runs what is to be done at the end of the reactor's turn.
    """

    _clock: IReactorTime
    _waiting: list[Flushable] = field(factory=list)
    _depth: int = 0
    _handled: int = 0
    _called: bool = False
    _gathering: bool = False

    def add(self, queue: Flushable) -> None:
        """Have a queue flushed soon; it adds itself once until then."""
        self._waiting.append(queue)
        if not self._depth:
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
        if not self._gathering and self._waiting:
            self._flush()
        if self._gathering or self._handled == PROBE_EVERY:
            self._call_at_end(handled=1)

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
