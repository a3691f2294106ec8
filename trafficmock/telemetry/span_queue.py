"""The spans that wait for their export: bounded, with a count of those that found no room."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.telemetry.finished_span import TestSpan, TrafficSpan


@define(eq=False)
class SpanQueue:
    """Takes spans that are over, in the order of their ends.

    :param limit: the most spans; a further one is dropped.
    :param batch: how many spans make a batch, see ``on_batch``.
    :param on_batch: called after each span beyond a batch, or with the first one in the queue.
    :ivar dropped: how many spans found no room, or were given up.
    """

    limit: int
    batch: int
    on_batch: Callable[[], None] = lambda: None
    dropped: int = 0
    _waiting: deque[TrafficSpan | TestSpan] = field(factory=deque)

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, span: TrafficSpan | TestSpan) -> None:
        """Add a span."""
        waiting = self._waiting
        before = len(waiting)
        if before >= self.limit:
            self.dropped += 1
            return
        waiting.append(span)
        if not 0 < before < self.batch - 1:
            self.on_batch()

    def take(self) -> list[TrafficSpan | TestSpan]:
        """Remove the spans of the next batch."""
        waiting = self._waiting
        return [waiting.popleft() for _ in range(min(self.batch, len(waiting)))]

    def clear(self) -> None:
        """Drop all spans."""
        self.dropped += len(self._waiting)
        self._waiting.clear()
