"""Bounds the wait for an owner that was matched without being asked.

A worker that says nothing for half the claim timeout after a match is pinged; one
that is still silent when the time is over is taken for blocked or stopped. A worker
that answers pings may take its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.effects import Effects, Send
from trafficmock.wire.inbound import Ping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trafficmock.core.alarm import Alarm
    from trafficmock.core.moment import Moment
    from trafficmock.core.pending import PendingRequest


@define
class Watched:
    """A request whose owner was not asked.

    :param matched_at: monotonic seconds.
    :param due: when to look at it next. After a ping this counts from the ping: where
        everybody was held up, the owner still has its time to answer.
    """

    pending: PendingRequest
    matched_at: float
    due: float

    def owner_lives(self) -> bool:
        """Tell whether the owner's worker said anything since the match."""
        test = self.pending.test
        return test is None or test.worker.last_heard > self.matched_at


@define
class Watch:
    """The directly matched requests, oldest first, before and after the ping."""

    patience: float
    alarm: Alarm
    _fresh: dict[str, Watched] = field(factory=dict)
    _pinged: dict[str, Watched] = field(factory=dict)

    def __len__(self) -> int:
        return len(self._fresh) + len(self._pinged)

    def begin(self, pending: PendingRequest, now: Moment, out: Effects) -> None:
        """Watch a request that is about to be matched."""
        due = now.seconds + self.patience / 2
        self._fresh[pending.id] = Watched(pending, now.seconds, due)
        self.alarm.need(due, out)

    def end(self, pending: PendingRequest) -> None:
        """Stop watching a request that is settled."""
        if self._fresh.pop(pending.id, None) is None:
            self._pinged.pop(pending.id, None)

    def overdue(self, now: Moment, out: Effects) -> Iterator[PendingRequest]:
        """Ping the owners that are half overdue, and give the requests that are overdue."""
        for watched in self._take_due(self._pinged, now.seconds):
            if not watched.owner_lives():
                yield watched.pending
        silent: dict[str, None] = {}
        for watched in self._take_due(self._fresh, now.seconds):
            if not watched.owner_lives() and watched.pending.test is not None:
                watched.due = now.seconds + self.patience / 2
                self._pinged[watched.pending.id] = watched
                silent[watched.pending.test.worker.id] = None
        if silent:
            out.append(Send(tuple(silent), Ping(now.epoch_ms)))

    def next_deadline(self) -> float | None:
        """Tell when the next one is due."""
        first = [*_first(self._fresh), *_first(self._pinged)]
        return min((each.due for each in first), default=None)

    @staticmethod
    def _take_due(table: dict[str, Watched], now: float) -> list[Watched]:
        due = []
        for watched in table.values():
            if watched.due > now:
                break
            due.append(watched)
        for watched in due:
            del table[watched.pending.id]
        return due


def _first(table: dict[str, Watched]) -> list[Watched]:
    return [next(iter(table.values()))] if table else []
