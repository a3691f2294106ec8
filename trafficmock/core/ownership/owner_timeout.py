"""Bounds the wait for owners whose worker is blocked or stopped.

A worker that owns a request or a WebSocket and sends nothing for half the claim timeout is
pinged. If it is still silent at the end of the claim timeout, its requests and WebSockets fail. The
handlers of a worker that answers pings have no time limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import Struct

from trafficmock.wire.inbound import Ping

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.state.lifecycle import Owned
    from trafficmock.core.state.peers import Worker
    from trafficmock.core.timers import Alarm

_LATE = 0.1
"""The fraction of the claim timeout by which a wake-up may be late. A later wake-up shows that the
service itself was blocked, and that messages of the worker may be unread."""


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
    """The workers whose tests own requests or WebSockets.

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
