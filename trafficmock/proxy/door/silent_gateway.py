"""Takes the place of the coordinator: everything passes through, and nothing is recorded."""

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
"""Bytes of bodies that are kept for reports, which nobody reads; 0 would be all."""


class OpenTunnels:
    """Lets the tunnels of browsers open: strict mode judges what applications send."""

    def would_refuse(self, *_: object) -> bool:
        return False

    def refuse(self, *_: object) -> None:
        """Refuse no tunnel."""


@define(eq=False)
class SilentGateway:
    """A :class:`~trafficmock.proxy.proxy_clients.CoordinatorGateway` that keeps nothing."""

    tunnels: OpenTunnels = field(factory=OpenTunnels)
    _numbers: itertools.count[int] = field(factory=itertools.count)

    def client_opened(self, proxy_client: ProxyClient, hello: inbound.Hello) -> None:  # noqa: ARG002 - the protocol's
        proxy_client.id = str(next(self._numbers))
        proxy_client.limits = _NO_COPIES

    def client_sent(self, proxy_client: ProxyClient, message: Message) -> None:
        """Let a request or a WebSocket pass; reports of them are dropped."""
        if isinstance(message, inbound.RequestStart):
            proxy_client.deliver(outbound.DecisionPassthrough(message.request_id))
        elif isinstance(message, inbound.SocketOpen):
            proxy_client.deliver(outbound.SocketPassthrough(message.socket_id))

    def client_closed(self, proxy_client: ProxyClient) -> None:
        """Forget nothing: nothing was kept."""

    def is_reserved(self, context_id: str) -> bool:  # noqa: ARG002 - the protocol's
        """Tell redirects by their URL alone: they are not linked here."""
        return False

    def client_recorded(self, record: Record) -> None:
        """Record nothing."""

    def socket_backlogged(self, socket: FlowControlled) -> None:
        """Do nothing: no test sends to a WebSocket here."""

    socket_drained = socket_gone = socket_backlogged
