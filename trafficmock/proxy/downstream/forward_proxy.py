"""Builds the forward proxy, which shares its port with the service itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define

from trafficmock.proxy.downstream.client_connection import ClientConnection
from trafficmock.proxy.downstream.protocol_sniffing import (
    ProtocolSniffer,
    ServiceFactory,
    hand_over,
)
from trafficmock.proxy.downstream.router import AbsoluteFormRouter
from trafficmock.proxy.proxy_clients import ProxyClients
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.upstream.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.http.this_service import ThisService
    from trafficmock.proxy.http1.heads import Pairs
    from trafficmock.proxy.proxy_clients import CoordinatorGateway
    from trafficmock.proxy.proxy_settings import Certificates, ProxySettings
    from trafficmock.proxy.request_target import Origin
    from trafficmock.proxy.upstream.dialer import Dialer


@define(eq=False)
class ForwardProxy:
    """Makes the protocols for connections whose requests are for other servers.

    :param resources: the objects that all connections share.
    :param this_service: its names.
    """

    resources: ProxyResources
    this_service: ThisService

    def sniffer(self, service: ServiceFactory, ended: Callable[[], None]) -> ProtocolSniffer:
        """Make the protocol for the first bytes of a connection.

        :param service: makes the protocol of the service itself.
        :param ended: called when the connection ends; not if it was handed to the service.
        """
        return ProtocolSniffer(
            proxy=lambda: self._client(service, ended),
            service=service,
            ended=ended,
            clock=self.resources.reactor,
            seconds=self.resources.settings.idle_seconds,
        )

    def stop(self) -> bool:
        """Answer waiting requests, and close the connections to servers.

        :returns: whether clients are still connected, to which responses may be on their way.
        """
        self.resources.pool.stop()
        self.resources.decoders.stop()
        clients = self.resources.proxy_clients
        return clients is not None and clients.stop()

    def _client(self, service: ServiceFactory, ended: Callable[[], None]) -> ClientConnection:
        def leave(connection: ClientConnection, raw: bytes) -> None:
            hand_over(connection.transport, service(once=True), raw)

        router = AbsoluteFormRouter(self.resources, this_service=self.this_service, leave=leave)
        return ClientConnection(self.resources, router, ended)


def make_forward_proxy(
    *,
    settings: ProxySettings,
    gateway: CoordinatorGateway | None,
    this_service: ThisService,
    dialer: Dialer,
    certificates: Certificates,
    version: str,
    reactor: Any,
    stamp: Callable[[Origin, Pairs], Pairs] | None = None,
) -> ForwardProxy:
    """Build the forward proxy.

    :param gateway: passes messages to the core; ``None`` for a browser proxy.
    :param this_service: its names.
    :param dialer: connects to servers.
    :param certificates: for TLS with clients behind CONNECT.
    :param version: the version of the service, which proxy clients send in their hello.
    :param stamp: see :class:`~trafficmock.proxy.proxy_settings.ProxyResources`.
    """
    resources = ProxyResources(
        settings=settings,
        reactor=reactor,
        proxy_clients=None
        if gateway is None
        else ProxyClients(gateway=gateway, clock=reactor, version=version, token=settings.token),
        pool=ConnectionPool(dialer, reactor, settings.max_header_bytes),
        dialer=dialer,
        certificates=certificates,
        stamp=stamp,
    )
    return ForwardProxy(resources, this_service)
