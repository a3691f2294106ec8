"""The wake-up of the core, the deadlines of bodies and owners, and what is done later."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import Struct

from trafficmock.core.effects import Wake
from trafficmock.wire.inbound import Ping

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.core.effects import EffectList, Moment
    from trafficmock.core.state.lifecycle import Owned, PendingRequest
    from trafficmock.core.state.peers import Worker

_LATE = 0.1
"""The fraction of the claim timeout by which a wake-up may be late. A later wake-up shows that the
service itself was blocked, and that messages of the worker may be unread."""


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
    """A heap of the steps, and of at most as many of requests that were settled meanwhile."""

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
        """Return whether a step is planned: for a request that is not settled, its decision."""
        return pending.id in self._steps

    def cancel(self, pending: PendingRequest) -> None:
        """Forget the step of a request that is settled."""
        self._steps.pop(pending.id, None)
        if len(self._by_time) > 2 * len(self._steps):
            self._by_time = [(due, request_id) for request_id, (due, _) in self._steps.items()]
            heapify(self._by_time)

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


class Watched(Struct, eq=False):
    """A worker whose tests own requests or WebSockets. Times are in monotonic seconds.

    :param due: the time of the next check.
    :param owned: the requests and WebSockets, oldest first, with the time of their match.
    :param pinged_at: the time of the last ping; ``None`` if the worker was heard since.
    :param excused: whether a late wake-up has extended this silence.
    """

    worker: Worker
    due: float
    owned: dict[Owned, float]
    pinged_at: float | None = None
    excused: bool = False

    def silent_since(self) -> float:
        """Return the time of the worker's last message, or of its oldest request if later."""
        return max(self.worker.last_heard, next(iter(self.owned.values())))

    def answered(self) -> bool:
        """Return whether the worker has sent a message since the ping, or was not pinged."""
        return self.pinged_at is None or self.worker.last_heard >= self.pinged_at


@define
class OwnerTimeouts:
    """Bounds the wait for owners whose worker is blocked or stopped.

    A worker that owns a request or a WebSocket and sends nothing for half the claim timeout is
    pinged. If it is still silent at the end of the claim timeout, its requests and WebSockets fail.
    The handlers of a worker that answers pings have no time limit.

    :param timeout: seconds of silence after which the requests and WebSockets of a worker fail.
    """

    timeout: float
    alarm: Alarm
    _workers: dict[str, Watched] = field(factory=dict)

    def begin(self, owned: Owned, worker: Worker, out: EffectList) -> None:
        """Watch the worker that got a request or a WebSocket."""
        watched = self._workers.get(worker.id)
        if watched is None:
            due = out.now.seconds + self.timeout / 2
            watched = self._workers[worker.id] = Watched(worker, due, {})
            self.alarm.need(due, out)
        watched.owned[owned] = out.now.seconds

    def end(self, owned: Owned, worker: Worker) -> None:
        """Remove a settled request, or a closed WebSocket, from the worker that got it."""
        watched = self._workers.get(worker.id)
        if watched is not None and owned in watched.owned:
            del watched.owned[owned]
            if not watched.owned:
                del self._workers[worker.id]

    def overdue(self, out: EffectList) -> list[Owned]:
        """Ping the workers that are silent for half the timeout.

        :returns: the requests and WebSockets of the workers that are silent for all of it.
        """
        given_up: list[Owned] = []
        to_ping: list[str] = []
        for watched in self._workers.values():
            if watched.due > out.now.seconds:
                continue
            if watched.answered():
                if self._is_silent(watched, out.now.seconds):
                    to_ping += watched.worker.connection_ids()
            elif not self._is_excused(watched, out.now.seconds):
                given_up += self._give_up(watched, out.now.seconds)
        if to_ping:
            out.send_all(tuple(to_ping), Ping(out.now.epoch_ms))
        return given_up

    def next_deadline(self) -> float | None:
        """Return the time of the next check in monotonic seconds, ``None`` for none."""
        return min((watched.due for watched in self._workers.values()), default=None)

    def _is_silent(self, watched: Watched, now: float) -> bool:
        """Return whether a worker is to be pinged, and set the time of its next check."""
        watched.excused = False
        half = watched.silent_since() + self.timeout / 2
        silent = half <= now
        watched.pinged_at = now if silent else None
        watched.due = now + self.timeout / 2 if silent else half
        return silent

    def _is_excused(self, watched: Watched, now: float) -> bool:
        """Extend a silence once, if the wake-up was late; return whether it did."""
        grace = self.timeout * _LATE
        if watched.excused or now - watched.due <= grace:
            return False
        watched.excused = True
        watched.due = now + grace
        return True

    def _give_up(self, watched: Watched, now: float) -> list[Owned]:
        """Return the requests and WebSockets that a silent worker has had for the timeout."""
        overdue = []
        for owned, since in watched.owned.items():
            if since + self.timeout > now:
                watched.due = since + self.timeout
                break
            overdue.append(owned)
        return overdue
