"""Heartbeats, idle connections and strangers that never say hello."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.effects import Cut, Effects, Send
from trafficmock.core.hello import refuse
from trafficmock.wire.inbound import Ping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.core.moment import Moment
    from trafficmock.core.peers import Client, Stranger
    from trafficmock.core.settings import Settings


@define
class Liveness:
    """Finds the connections that are dead or never came to life."""

    settings: Settings
    _next_beat: float = 0.0
    _strangers: dict[str, Stranger] = field(factory=dict)

    def begin(self, now: Moment) -> None:
        """Start the heartbeat with the first connection."""
        self._next_beat = now.seconds + self.settings.heartbeat

    def met(self, stranger: Stranger) -> None:
        """Start the hello deadline of a new connection."""
        if self.settings.hello_timeout:
            self._strangers[stranger.id] = stranger

    def introduced(self, connection_id: str) -> None:
        """End the hello deadline of a connection."""
        self._strangers.pop(connection_id, None)

    def silent_strangers(self, now: float, out: Effects) -> list[Stranger]:
        """Refuse the strangers whose time for ``hello`` is up, and list them."""
        late = []
        for stranger in self._strangers.values():
            if stranger.opened_at + self.settings.hello_timeout > now:
                break
            late.append(stranger)
        for stranger in late:
            del self._strangers[stranger.id]
            milliseconds = round(self.settings.hello_timeout * 1000)
            text = f"No `hello` came within {milliseconds} ms (--hello-timeout-ms)."
            refuse(stranger.id, "invalid_hello", text, out)
        return late

    def beat(self, clients: Iterable[Client], now: Moment, out: Effects) -> None:
        """Ping everybody, and cut who said nothing for too long, when it is time."""
        if now.seconds < self._next_beat:
            return
        self._next_beat = now.seconds + self.settings.heartbeat
        living = []
        for client in clients:
            silence = now.seconds - client.last_heard
            if silence > self.settings.idle_timeout:
                reason = f"{client.client_id} said nothing for {silence:.0f} s (--idle-timeout-ms)"
                out.append(Cut(client.id, reason))
            else:
                living.append(client.id)
        if living:
            out.append(Send(tuple(living), Ping(now.epoch_ms)))

    def next_deadline(self) -> float:
        """Tell when the next heartbeat or hello deadline is."""
        for stranger in self._strangers.values():
            return min(self._next_beat, stranger.opened_at + self.settings.hello_timeout)
        return self._next_beat
