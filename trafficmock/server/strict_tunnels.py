"""Judges CONNECT tunnels whose requests the forward proxy does not parse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import field, frozen

from trafficmock.core.coordinator import Coordinator
from trafficmock.core.effects import Effects, Moment
from trafficmock.wire.inbound import RouteRegister, RunStrict, TestRegister, TestStrict
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest

if TYPE_CHECKING:
    from trafficmock.server.local_client import LocalClient

CONCERNING = frozenset({RouteRegister, TestRegister, TestStrict, RunStrict})
"""The types of messages after which :meth:`StrictTunnels.judge_anew` is called."""


@frozen
class StrictTunnels:
    """Asks the core directly: a tunnel does not wait for the decision of a test.

    :param now: returns the time.
    :param perform: performs the effects of the core.
    """

    coordinator: Coordinator
    now: Callable[[], Moment]
    perform: Callable[[Effects, Moment], None]
    _watched: dict[Callable[[], None], tuple[LocalClient, str]] = field(factory=dict, init=False)

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

    def may_be_mocked(self, client: LocalClient, url: str) -> bool:
        """Return whether a route may match a URL of a server, or strict mode would refuse it.

        :param url: as of the request in :meth:`would_refuse`.
        """
        request = SerializedRequest(url, "CONNECT", {}, body.NULL)
        return self.coordinator.may_be_mocked(url) or self.would_refuse(client, request)

    def watch(self, client: LocalClient, url: str, end: Callable[[], None]) -> None:
        """Call ``end`` once :meth:`may_be_mocked` is true, unless :meth:`unwatch` is called."""
        self._watched[end] = client, url

    def unwatch(self, end: Callable[[], None]) -> None:
        """Stop watching."""
        self._watched.pop(end, None)

    def judge_anew(self) -> None:
        """End the watched tunnels that a test might mock now, before it is answered."""
        for end, watched in list(self._watched.items()):
            if self.may_be_mocked(*watched):
                del self._watched[end]
                end()
