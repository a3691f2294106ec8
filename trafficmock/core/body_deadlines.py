"""Bounds the wait for a body that a test wants, whichever door its request came through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trafficmock.core.alarm import Alarm
    from trafficmock.core.effects import Effects
    from trafficmock.core.moment import Moment
    from trafficmock.core.pending_request import PendingRequest


@define
class BodyDeadlines:
    """The requests whose owner waits for their body.

    Time counts from the announcement of a request, so a body has the time of the claim as well.

    :param seconds: how long a body may take; 0 for ever.
    """

    seconds: float
    alarm: Alarm
    _awaited: dict[str, PendingRequest] = field(factory=dict)

    def begin(self, pending: PendingRequest, out: Effects) -> None:
        """Note that a body is asked for."""
        if self.seconds:
            self._awaited[pending.id] = pending
            self.alarm.need(pending.announced_at + self.seconds, out)

    def end(self, pending: PendingRequest) -> None:
        """Forget a request whose body came, or that is settled."""
        self._awaited.pop(pending.id, None)

    def overdue(self, now: Moment) -> Iterator[PendingRequest]:
        """List the requests whose body should be there; whoever settles them ends the wait."""
        latest = now.seconds - self.seconds
        return (each for each in self._awaited.values() if each.announced_at <= latest)

    def next_deadline(self) -> float | None:
        """Tell when the next one is due; bodies that are waited for at once are few."""
        first = min((each.announced_at for each in self._awaited.values()), default=None)
        return None if first is None else first + self.seconds
