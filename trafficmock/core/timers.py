"""The wake-up of the core, the deadlines of bodies, and what is done about requests later."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.effects import Wake

if TYPE_CHECKING:
    from collections.abc import Callable

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


@define
class PlannedSteps:
    """The next steps of requests that are taken at a time, one of each request.

    Such a step is a decision after its delay, or the next piece of an answer after its pause. A
    request that is settled meanwhile, as by its application, loses its step.
    """

    alarm: Alarm
    _steps: dict[str, tuple[float, Callable[[EffectList], None]]] = field(factory=dict)
    _by_time: list[tuple[float, str]] = field(factory=list)
    """A heap of the steps, and of those of requests that were settled meanwhile."""

    def plan(
        self,
        pending: PendingRequest,
        milliseconds: float,
        step: Callable[[EffectList], None],
        out: EffectList,
    ) -> None:
        """Take a step of a request after a time."""
        due = out.now.seconds + milliseconds / 1000
        self._steps[pending.id] = (due, step)
        heappush(self._by_time, (due, pending.id))
        self.alarm.need(due, out)

    def has(self, pending: PendingRequest) -> bool:
        """Return whether a step of a request is planned, before its end its delayed decision."""
        return pending.id in self._steps

    def cancel(self, pending: PendingRequest) -> None:
        """Forget the step of a request that is settled."""
        self._steps.pop(pending.id, None)

    def take_due(self, out: EffectList) -> None:
        """Take the steps whose time has come, the earliest first."""
        while (due := self.next_deadline()) is not None and due <= out.now.seconds:
            _, step = self._steps.pop(self._by_time[0][1])
            step(out)

    def next_deadline(self) -> float | None:
        """Return the time of the next step in monotonic seconds, ``None`` for none."""
        while self._by_time:
            due, request_id = self._by_time[0]
            planned = self._steps.get(request_id)
            if planned is not None and planned[0] == due:
                return due
            heappop(self._by_time)
        return None
