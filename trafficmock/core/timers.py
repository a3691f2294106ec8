"""Moments, the one wake-up, heartbeats, and the waits for ``hello`` and for bodies."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import Struct

from trafficmock.core.effects import AbortConnection, EffectList, Wake
from trafficmock.core.hello import refuse
from trafficmock.wire.inbound import Ping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.core.effects import EffectList
    from trafficmock.core.lifecycle import PendingRequest
    from trafficmock.core.peers import Client, Unauthenticated
    from trafficmock.core.settings import Settings


class Moment(Struct, frozen=True, gc=False):
    """One instant on two clocks.

    :param seconds: monotonic seconds, for deadlines.
    :param epoch_ms: milliseconds since 1970, for what people and clients see.
    """

    seconds: float
    epoch_ms: int


@define
class Alarm:
    """Remembers the wake-up that is outstanding, so that only an earlier one is asked for."""

    at: float = inf

    def need(self, at: float, out: EffectList) -> None:
        """Ask to be woken at ``at`` unless that, or something earlier, is already asked for."""
        if at < self.at:
            self.at = at
            out.append(Wake(at))

    def fired(self) -> None:
        """Note that the wake-up happened."""
        self.at = inf


@define
class BodyDeadlines:
    """The requests whose owner waits for their body.

    Time counts from the announcement of a request, so a body has the time of the claim as well.

    :param seconds: how long a body may take; 0 for ever.
    """

    seconds: float
    alarm: Alarm
    _awaited: dict[str, PendingRequest] = field(factory=dict)
    _by_announcement: list[tuple[float, str]] = field(factory=list)
    """A heap of those that are awaited, and of at most as many that were."""

    def begin(self, pending: PendingRequest, out: EffectList) -> None:
        """Note that a body is asked for."""
        if self.seconds:
            self._awaited[pending.id] = pending
            heappush(self._by_announcement, (pending.announced_at, pending.id))
            self.alarm.need(pending.announced_at + self.seconds, out)

    def end(self, pending: PendingRequest) -> None:
        """Forget a request whose body came, or that is settled."""
        self._awaited.pop(pending.id, None)
        if len(self._by_announcement) > 2 * len(self._awaited):
            self._by_announcement = [
                (each.announced_at, id_) for id_, each in self._awaited.items()
            ]
            heapify(self._by_announcement)

    def overdue(self, now: Moment) -> list[PendingRequest]:
        """End the wait for the bodies that should be there, and list their requests."""
        found = []
        while (first := self._first()) and first.announced_at + self.seconds <= now.seconds:
            found.append(self._awaited.pop(first.id))
        return found

    def next_deadline(self) -> float | None:
        """Tell when the next one is due."""
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
class Heartbeat:
    """Finds the connections that are dead or never came to life."""

    settings: Settings
    _next_beat: float = 0.0
    _unauthenticated: dict[str, Unauthenticated] = field(factory=dict)

    def begin(self, now: Moment) -> None:
        """Start the heartbeat with the first connection."""
        self._next_beat = now.seconds + self.settings.heartbeat

    def met(self, connection: Unauthenticated) -> None:
        """Start the hello deadline of a new connection."""
        if self.settings.hello_timeout:
            self._unauthenticated[connection.id] = connection

    def introduced(self, connection_id: str) -> None:
        """Remove the hello deadline of a connection."""
        self._unauthenticated.pop(connection_id, None)

    def late_hellos(self, out: EffectList) -> list[Unauthenticated]:
        """Refuse the unauthenticated connections whose time for ``hello`` is up, and list them."""
        late = []
        for connection in self._unauthenticated.values():
            if connection.opened_at + self.settings.hello_timeout > out.now.seconds:
                break
            late.append(connection)
        for connection in late:
            del self._unauthenticated[connection.id]
            milliseconds = round(self.settings.hello_timeout * 1000)
            text = f"No `hello` came within {milliseconds} ms (--hello-timeout-ms)."
            refuse(connection.id, "invalid_hello", text, out)
        return late

    def beat(self, clients: Iterable[Client], out: EffectList) -> None:
        """Ping everybody, and cut who said nothing for too long, when it is time."""
        if out.now.seconds < self._next_beat:
            return
        self._next_beat = out.now.seconds + self.settings.heartbeat
        living = []
        for client in clients:
            silence = out.now.seconds - client.last_heard
            if silence > self.settings.idle_timeout:
                reason = f"{client.client_id} said nothing for {silence:.0f} s (--idle-timeout-ms)"
                out.append(AbortConnection(client.id, reason))
            else:
                living.append(client.id)
        if living:
            out.send_all(tuple(living), Ping(out.now.epoch_ms))

    def next_deadline(self) -> float:
        """Tell when the next heartbeat or hello deadline is."""
        for connection in self._unauthenticated.values():
            return min(self._next_beat, connection.opened_at + self.settings.hello_timeout)
        return self._next_beat
