"""Applies strict mode to CONNECT tunnels, whose requests the forward proxy does not parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.core.coordinator import Coordinator
    from trafficmock.core.effects import Effects, Moment
    from trafficmock.server.local_client import LocalClient
    from trafficmock.wire.payloads.serialized_request import SerializedRequest


@frozen
class StrictTunnels:
    """Asks the core directly: a tunnel does not wait for the decision of a test.

    :param now: returns the time.
    :param perform: performs the effects of the core.
    """

    coordinator: Coordinator
    now: Callable[[], Moment]
    perform: Callable[[Effects, Moment], None]

    def would_refuse(self, client: LocalClient, request: SerializedRequest) -> bool:
        """Return whether strict mode would refuse a tunnel; nothing is recorded.

        :param request: its CONNECT, with ``https://host:port/`` as its URL.
        """
        return self.coordinator.would_refuse_tunnel(client.id, request)

    def refuse(self, client: LocalClient, tunnel_id: str, request: SerializedRequest) -> str | None:
        """Record the refusal of a tunnel, if strict mode refuses it.

        :returns: the reason, for people; ``None`` if the tunnel may be opened.
        """
        now = self.now()
        text, effects = self.coordinator.refuse_tunnel(client.id, tunnel_id, request, now)
        self.perform(effects, now)
        return text
