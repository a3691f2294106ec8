"""The times at which the core has something to do: one heap for all rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf

from attrs import define, field
from msgspec import Struct

from trafficmock.core.effects import EffectList, Wake

_MOST_CANCELLED = 64
"""The cancelled deadlines that the heap may hold, beside as many as there are open ones."""


class Deadline(Struct, eq=False):
    """A time at which something is done, unless it is cancelled before.

    :param due: monotonic seconds.
    :param act: what is done; ``None`` once it was done or cancelled.
    """

    due: float
    act: Callable[[EffectList], None] | None


@define(eq=False)
class Deadlines:
    """What the core does later, without an event: a rule adds a time and what is to be done."""

    _heap: list[tuple[float, int, Deadline]] = field(factory=list)
    _open: int = 0
    _added: Iterator[int] = field(factory=count)
    """Deadlines of the same time are kept in the order in which they were added."""
    _wake_up: float = inf
    """The earliest requested wake-up, so that only an earlier one is requested besides."""

    def add(self, due: float, act: Callable[[EffectList], None], out: EffectList) -> Deadline:
        """Do something at a time, or in the next turn if the time has passed.

        :param due: monotonic seconds.
        """
        deadline = Deadline(due, act)
        heappush(self._heap, (due, next(self._added), deadline))
        self._open += 1
        self._wake_at(due, out)
        return deadline

    def cancel(self, deadline: Deadline | None) -> None:
        """Cancel a deadline; one that was cancelled, or has passed, stays as it is."""
        if deadline is None or deadline.act is None:
            return
        deadline.act = None
        self._open -= 1
        if len(self._heap) > 2 * self._open + _MOST_CANCELLED:
            self._heap = [each for each in self._heap if each[2].act is not None]
            heapify(self._heap)

    def tick(self, out: EffectList) -> None:
        """Do all that is due, the earliest first, and request the next wake-up.

        What is added meanwhile waits for the next turn, also if it is due: other events come first.
        """
        self._wake_up = inf
        due = []
        while self._heap and self._heap[0][0] <= out.now.seconds:
            due.append(heappop(self._heap))
        due.reverse()
        try:
            while due:
                deadline = due.pop()[2]
                if (act := deadline.act) is not None:
                    deadline.act = None
                    self._open -= 1
                    act(out)
        finally:
            # After an error, what was due behind it is done in the next turn.
            for each in due:
                heappush(self._heap, each)
        while self._heap and self._heap[0][2].act is None:
            heappop(self._heap)
        if self._heap:
            self._wake_at(self._heap[0][0], out)

    def _wake_at(self, due: float, out: EffectList) -> None:
        if due < self._wake_up:
            self._wake_up = due
            out.append(Wake(due))
