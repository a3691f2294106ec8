"""The wake-up of the core, and the deadlines of bodies."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.effects import Wake

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList, Moment
    from trafficmock.core.state.lifecycle import PendingRequest


@define
class Alarm:
    """The earliest requested wake-up, so that only an earlier one is requested besides."""

    at: float = inf

    def need(self, at: float, out: EffectList) -> None:
        """Request a wake-up at ``at`` (monotonic seconds), unless there is one by then."""
        if at < self.at:
            self.at = at
            out.append(Wake(at))

    def fired(self) -> None:
        """Handle the wake-up: no other one is requested."""
        self.at = inf


@define
class BodyDeadlines:
    """The deadlines of requests whose owner waits for the body.

    The time counts from the announcement of a request, and so includes that of the claim.

    :param seconds: the time for a body; 0 for no limit.
    """

    seconds: float
    alarm: Alarm
    _awaited: dict[str, PendingRequest] = field(factory=dict)
    _by_announcement: list[tuple[float, str]] = field(factory=list)
    """A heap of the awaited bodies, and of at most as many that are no longer awaited."""

    def begin(self, pending: PendingRequest, out: EffectList) -> None:
        """Start the deadline of a body that was requested."""
        if self.seconds:
            self._awaited[pending.id] = pending
            heappush(self._by_announcement, (pending.announced_at, pending.id))
            self.alarm.need(pending.announced_at + self.seconds, out)

    def end(self, pending: PendingRequest) -> None:
        """Remove the deadline of a request whose body came, or that is settled."""
        self._awaited.pop(pending.id, None)
        if len(self._by_announcement) > 2 * len(self._awaited):
            self._by_announcement = [
                (each.announced_at, id_) for id_, each in self._awaited.items()
            ]
            heapify(self._by_announcement)

    def overdue(self, now: Moment) -> list[PendingRequest]:
        """Remove the deadlines that have passed, and return their requests."""
        found = []
        while (first := self._first()) and first.announced_at + self.seconds <= now.seconds:
            found.append(self._awaited.pop(first.id))
        return found

    def next_deadline(self) -> float | None:
        """Return the time of the next deadline in monotonic seconds, ``None`` for none."""
        first = self._first()
        return None if first is None else first.announced_at + self.seconds

    def _first(self) -> PendingRequest | None:
        while self._by_announcement:
            announced_at, request_id = self._by_announcement[0]
            pending = self._awaited.get(request_id)
            if pending is not None and pending.announced_at == announced_at:
                return pending
            heappop(self._by_announcement)
        return None
