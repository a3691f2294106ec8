"""Times, the wake-up of the core, heartbeats, and the deadlines of ``hello`` and of bodies."""

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

    from trafficmock.core.lifecycle import PendingRequest
    from trafficmock.core.settings import Settings
    from trafficmock.core.state.peers import Client, Unauthenticated


class Moment(Struct, frozen=True, gc=False):
    """A time on two clocks.

    :param seconds: monotonic seconds, for deadlines.
    :param epoch_ms: milliseconds since 1970, for the history and for messages.
    """

    seconds: float
    epoch_ms: int


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
class Heartbeat:
    """Pings clients, and finds connections that are silent or send no ``hello``."""

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
        """Refuse the connections that sent no ``hello`` in time, and return them."""
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
        """Ping all clients, and abort those that were silent for too long, if it is time."""
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
        """Return the time of the next heartbeat or ``hello`` deadline, in monotonic seconds."""
        for connection in self._unauthenticated.values():
            return min(self._next_beat, connection.opened_at + self.settings.hello_timeout)
        return self._next_beat
