"""The heartbeat: pings to clients, and the deadline of ``hello``."""

from __future__ import annotations

from functools import partial

from attrs import define, field

from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import AbortConnection, EffectList
from trafficmock.core.hello import refuse
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Unauthenticated
from trafficmock.wire.inbound import Ping


@define
class Heartbeat:
    """Pings clients, and finds connections that are silent or send no ``hello``."""

    state: SharedState
    _beat: Deadline | None = None
    _hellos: dict[str, Deadline] = field(factory=dict)

    def begin(self, out: EffectList) -> None:
        """Start the heartbeat with the first connection."""
        self.state.deadlines.cancel(self._beat)
        due = out.now.seconds + self.state.settings.heartbeat
        self._beat = self.state.deadlines.add(due, self._ping, out)

    def met(self, connection: Unauthenticated, out: EffectList) -> None:
        """Start the hello deadline of a new connection."""
        if self.state.settings.hello_timeout:
            due = out.now.seconds + self.state.settings.hello_timeout
            late = partial(self._hello_late, connection)
            self._hellos[connection.id] = self.state.deadlines.add(due, late, out)

    def introduced(self, connection_id: str) -> None:
        """Remove the hello deadline of a connection."""
        self.state.deadlines.cancel(self._hellos.pop(connection_id, None))

    def _hello_late(self, connection: Unauthenticated, out: EffectList) -> None:
        """Refuse a connection that sent no ``hello`` in time."""
        del self._hellos[connection.id], self.state.peers[connection.id]
        milliseconds = round(self.state.settings.hello_timeout * 1000)
        text = f"No `hello` came within {milliseconds} ms (--hello-timeout-ms)."
        refuse(connection.id, "invalid_hello", text, out)

    def _ping(self, out: EffectList) -> None:
        """Ping all clients, and abort those that were silent for too long."""
        living = []
        for client in self.state.clients():
            silence = out.now.seconds - client.last_heard
            if silence > self.state.settings.idle_timeout:
                reason = f"{client.client_id} said nothing for {silence:.0f} s (--idle-timeout-ms)"
                out.append(AbortConnection(client.id, reason))
            else:
                living.append(client.id)
        if living:
            out.send_all(tuple(living), Ping(out.now.epoch_ms))
        if self.state.peers:
            self.begin(out)
