"""The heartbeat: pings to clients, and the deadline of ``hello``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.effects import AbortConnection
from trafficmock.core.hello import refuse
from trafficmock.wire.inbound import Ping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.core.effects import EffectList, Moment
    from trafficmock.core.settings import Settings
    from trafficmock.core.state.peers import Client, Unauthenticated


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
