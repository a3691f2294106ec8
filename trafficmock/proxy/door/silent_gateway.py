"""Replaces the coordinator in a door: all requests pass through, and nothing is recorded."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.wire import inbound, outbound
from trafficmock.wire.outbound import BodyLimits

if TYPE_CHECKING:
    from trafficmock.http.backpressure import FlowControlled
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.records import Record
    from trafficmock.wire.inbound import Message

_NO_COPIES = BodyLimits(history=1, handler=1)
"""Bytes of a body that are kept for its report. The reports are dropped; 0 would mean all."""


class OpenTunnels:
    """Allows all tunnels of a browser: strict mode concerns the application's own requests."""

    def would_refuse(self, *_: object) -> bool:
        return False

    def refuse(self, *_: object) -> None:
        """Return ``None``: no tunnel is refused."""


@define(eq=False)
class SilentGateway:
    """A :class:`~trafficmock.proxy.proxy_clients.CoordinatorGateway` without a coordinator."""

    tunnels: OpenTunnels = field(factory=OpenTunnels)
    _numbers: itertools.count[int] = field(factory=itertools.count)

    def client_opened(self, proxy_client: ProxyClient, hello: inbound.Hello) -> None:  # noqa: ARG002 - the protocol's
        proxy_client.id = str(next(self._numbers))
        proxy_client.limits = _NO_COPIES

    def client_sent(self, proxy_client: ProxyClient, message: Message) -> None:
        """Answer the announcement of a request or WebSocket with passthrough; drop reports."""
        if isinstance(message, inbound.RequestStart):
            proxy_client.deliver(outbound.DecisionPassthrough(message.request_id))
        elif isinstance(message, inbound.SocketOpen):
            proxy_client.deliver(outbound.SocketPassthrough(message.socket_id))

    def client_closed(self, proxy_client: ProxyClient) -> None:
        """Do nothing: no state is kept about clients."""

    def is_reserved(self, context_id: str) -> bool:  # noqa: ARG002 - the protocol's
        """Return false: redirects of a door are matched by their URL alone."""
        return False

    def client_recorded(self, record: Record) -> None:
        """Drop the record."""

    def socket_backlogged(self, socket: FlowControlled) -> None:
        """Do nothing: no test sends to a WebSocket of a door."""

    socket_drained = socket_gone = socket_backlogged
