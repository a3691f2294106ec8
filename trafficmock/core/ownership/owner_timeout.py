"""Bounds the wait for owners whose worker is blocked or stopped.

A worker that owns a request or a WebSocket and says nothing for half the claim timeout is
pinged. One that is still silent when the time is over loses what it owns. A worker that
answers pings may take its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import Struct

from trafficmock.wire.inbound import Ping

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.lifecycle import Owned
    from trafficmock.core.peers import Worker
    from trafficmock.core.timers import Alarm

_LATE = 0.1
"""A part of the claim timeout: a wake-up that is later says that the proxy was held up, and
that what the worker said meanwhile may be unread."""


class Watched(Struct, eq=False):
    """A worker that owns something.

    :param due: monotonic seconds, when to look at it next.
    :param owned: since when it owns what, oldest first.
    :param pinged_at: when it was pinged, if it was silent since.
    :param excused: a late wake-up has put off the end of this silence.
    """

    worker: Worker
    due: float
    owned: dict[Owned, float]
    pinged_at: float | None = None
    excused: bool = False

    def silent_since(self) -> float:
        """Tell when its silence began to count; before it owned something it need not speak."""
        return max(self.worker.last_heard, next(iter(self.owned.values())))

    def answered(self) -> bool:
        """Tell whether it said anything since the ping, or was not pinged."""
        return self.pinged_at is None or self.worker.last_heard >= self.pinged_at


@define
class OwnerTimeouts:
    """The workers that own something, by connection id.

    :param timeout: seconds of silence after which a worker loses what it owns.
    """

    timeout: float
    alarm: Alarm
    _workers: dict[str, Watched] = field(factory=dict)

    def begin(self, owned: Owned, worker: Worker, out: EffectList) -> None:
        """Watch the worker that a request or a WebSocket is handed to."""
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
        """Ping the workers that are half overdue, and list what the overdue ones own."""
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
        """Tell when the next one is due."""
        return min((watched.due for watched in self._workers.values()), default=None)

    def _is_silent(self, watched: Watched, now: float) -> bool:
        """Look whether a worker is to be pinged; it has its time to answer from then on."""
        watched.excused = False
        half = watched.silent_since() + self.timeout / 2
        silent = half <= now
        watched.pinged_at = now if silent else None
        watched.due = now + self.timeout / 2 if silent else half
        return silent

    def _is_excused(self, watched: Watched, now: float) -> bool:
        """Put the end of a silence off, once, when it is noticed late."""
        grace = self.timeout * _LATE
        if watched.excused or now - watched.due <= grace:
            return False
        watched.excused = True
        watched.due = now + grace
        return True

    def _give_up(self, watched: Watched, now: float) -> list[Owned]:
        """List what a silent worker has had for all its time; the rest has its own."""
        overdue = []
        for owned, since in watched.owned.items():
            if since + self.timeout > now:
                watched.due = since + self.timeout
                break
            overdue.append(owned)
        return overdue
