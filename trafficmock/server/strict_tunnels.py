"""Tunnels that the forward proxy does not read, as strict mode judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.core.coordinator import Coordinator
    from trafficmock.core.effects import Effects
    from trafficmock.core.timers import Moment
    from trafficmock.server.local_client import LocalClient
    from trafficmock.wire.payloads.serialized_request import SerializedRequest


@frozen
class StrictTunnels:
    """Asks the core at once: a tunnel does not wait for a decision.

    :param now: tells the time.
    :param perform: does what the core answers.
    """

    coordinator: Coordinator
    now: Callable[[], Moment]
    perform: Callable[[Effects, Moment], None]

    def would_refuse(self, client: LocalClient, request: SerializedRequest) -> bool:
        """Tell whether strict mode would refuse a tunnel.

        :param request: its CONNECT, with ``https://host:port/`` as its URL.
        """
        return self.coordinator.would_refuse_tunnel(client.id, request)

    def refuse(self, client: LocalClient, tunnel_id: str, request: SerializedRequest) -> str | None:
        """Refuse a tunnel where strict mode does, and record that.

        :returns: why; ``None`` where it may be opened.
        """
        now = self.now()
        text, effects = self.coordinator.refuse_tunnel(client.id, tunnel_id, request, now)
        self.perform(effects, now)
        return text
