"""Collects what is sent while something is handled, so that it leaves in few writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import define, field

if TYPE_CHECKING:
    from types import TracebackType

    from twisted.internet.interfaces import IReactorTime


class Flushable(Protocol):
    """Something that holds back until it is told to write."""

    def flush(self) -> None:
        """Write what was held back."""


@define(eq=False)
class Turn:
    """One for all connections: ``with turn:`` around the handling of what came in.

    A message that is relayed wakes several queues, and some of them several times. Each
    writes once, when all is handled. Outside of that the writing waits for the reactor.

    :param clock: runs what was not sent while something was handled.
    """

    _clock: IReactorTime
    _waiting: list[Flushable] = field(factory=list)
    _depth: int = 0
    _called: bool = False

    def add(self, queue: Flushable) -> None:
        """Have a queue flushed soon; it adds itself once until then."""
        self._waiting.append(queue)
        if not self._depth and not self._called:
            self._called = True
            self._clock.callLater(0, self._late)

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._waiting and not self._depth:
            self._flush()

    def _late(self) -> None:
        self._called = False
        self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for queue in waiting:
            queue.flush()
