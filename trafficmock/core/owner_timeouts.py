"""The wait for owners of requests and WebSockets whose worker is blocked or stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import define, field
from msgspec import Struct

from trafficmock.core.deadlines import Deadline, Deadlines
from trafficmock.core.effects import EffectList
from trafficmock.core.state.lifecycle import Owned
from trafficmock.core.state.peers import Worker
from trafficmock.wire.inbound import Ping

_LATE = 0.1
"""The fraction of the claim timeout by which a wake-up may be late. A later wake-up shows that the
service itself was blocked, and that messages of the worker may be unread."""


class Watched(Struct, eq=False):
    """A worker whose tests own requests or WebSockets. Times are in monotonic seconds.

    :param owned: the requests and WebSockets, oldest first, with the time of their match and what
        fails them.
    :param check: the next check.
    :param pinged_at: the time of the last ping; ``None`` if the worker was heard since.
    :param excused: whether a late wake-up has extended this silence.
    """

    worker: Worker
    owned: dict[Owned, tuple[float, Callable[[EffectList], None]]]
    check: Deadline | None = None
    pinged_at: float | None = None
    excused: bool = False

    def silent_since(self) -> float:
        """Return the time of the worker's last message, or of its oldest request if later."""
        return max(self.worker.last_heard, next(iter(self.owned.values()))[0])

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
    deadlines: Deadlines
    _workers: dict[str, Watched] = field(factory=dict)

    def begin(
        self, owned: Owned, worker: Worker, fail: Callable[[EffectList], None], out: EffectList
    ) -> None:
        """Watch the worker that got a request or a WebSocket.

        :param fail: fails it.
        """
        watched = self._workers.get(worker.id)
        if watched is None:
            watched = self._workers[worker.id] = Watched(worker, {})
            self._check_at(out.now.seconds + self.timeout / 2, watched, out)
        watched.owned[owned] = out.now.seconds, fail

    def end(self, owned: Owned, worker: Worker) -> None:
        """Remove a settled request, or a closed WebSocket, from the worker that got it."""
        watched = self._workers.get(worker.id)
        if watched is not None and owned in watched.owned:
            del watched.owned[owned]
            if not watched.owned:
                del self._workers[worker.id]
                self.deadlines.cancel(watched.check)

    def _check_at(self, due: float, watched: Watched, out: EffectList) -> None:
        watched.check = self.deadlines.add(due, partial(self._check, watched, due), out)

    def _check(self, watched: Watched, due: float, out: EffectList) -> None:
        """Ping a worker that is silent for half the timeout; fail what it has had for all of it.

        :param due: when the check was due.
        """
        now = out.now.seconds
        if watched.answered():
            watched.excused = False
            half = watched.silent_since() + self.timeout / 2
            silent = half <= now
            watched.pinged_at = now if silent else None
            self._check_at(now + self.timeout / 2 if silent else half, watched, out)
            if silent:
                out.send_all(tuple(watched.worker.connection_ids()), Ping(out.now.epoch_ms))
        elif not watched.excused and now - due > self.timeout * _LATE:
            watched.excused = True
            self._check_at(now + self.timeout * _LATE, watched, out)
        else:
            self._give_up(watched, out)

    def _give_up(self, watched: Watched, out: EffectList) -> None:
        """Fail the requests and WebSockets that a silent worker has had for the timeout."""
        given_up = []
        for since, fail in watched.owned.values():
            if since + self.timeout > out.now.seconds:
                self._check_at(since + self.timeout, watched, out)
                break
            given_up.append(fail)
        for fail in given_up:
            fail(out)
