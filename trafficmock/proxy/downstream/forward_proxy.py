"""Builds the forward proxy, which shares its port with the service itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, evolve, field
from twisted.internet.protocol import Protocol

from trafficmock.http.this_service import ThisService
from trafficmock.proxy.downstream.client_connection import ClientConnection
from trafficmock.proxy.downstream.protocol_sniffing import (
    ProtocolSniffer,
    ServiceFactory,
    hand_over,
)
from trafficmock.proxy.downstream.router import AbsoluteFormRouter
from trafficmock.proxy.http1.heads import Pairs
from trafficmock.proxy.proxy_clients import CoordinatorGateway, ProxyClients
from trafficmock.proxy.proxy_settings import Certificates, ProxyResources, ProxySettings
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.connection_pool import ConnectionPool
from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.sealed_dialer import Reach, SealedDialer, read_reach

MOST_SEALED = 100
"""The most sealed commands, by what they reach, whose connections to servers are kept for reuse."""


@define(eq=False)
class ForwardProxy:
    """Makes the protocols for connections whose requests are for other servers.

    :param resources: the objects that all connections share.
    :param this_service: its names.
    """

    resources: ProxyResources
    this_service: ThisService
    _sealed: dict[Reach, ProxyResources] = field(factory=dict, init=False)
    """The resources of sealed commands, which share no connections to servers with others."""

    def sniffer(self, service: ServiceFactory, ended: Callable[[], None]) -> ProtocolSniffer:
        """Make the protocol for the first bytes of a connection.

        :param service: makes the protocol of the service itself.
        :param ended: called when the connection ends; not if it was handed to the service.
        """

        def sealed(text: str) -> Callable[[], Protocol] | None:
            reach = read_reach(text)
            if reach is None:
                return None
            return lambda: self._client(service, ended, self._for_sealed(reach))

        return ProtocolSniffer(
            proxy=lambda: self._client(service, ended),
            service=service,
            ended=ended,
            clock=self.resources.reactor,
            seconds=self.resources.settings.idle_seconds,
            sealed=sealed,
        )

    def stop(self) -> bool:
        """Answer waiting requests, and close the connections to servers.

        :returns: whether clients are still connected, to which responses may be on their way.
        """
        for each in (self.resources, *self._sealed.values()):
            each.pool.stop()
            each.decoders.stop()
        clients = self.resources.proxy_clients
        return clients is not None and clients.stop()

    def _for_sealed(self, reach: Reach) -> ProxyResources:
        found = self._sealed.get(reach)
        if found is None:
            own = self.resources
            dialer = SealedDialer.of(own.dialer, reach)
            pool = ConnectionPool(dialer, own.reactor, own.settings.max_header_bytes)
            found = evolve(own, dialer=dialer, pool=pool)
            if len(self._sealed) < MOST_SEALED:
                self._sealed[reach] = found
        return found

    def _client(
        self,
        service: ServiceFactory,
        ended: Callable[[], None],
        resources: ProxyResources | None = None,
    ) -> ClientConnection:
        def leave(connection: ClientConnection, raw: bytes) -> None:
            hand_over(connection.transport, service(once=True), raw)

        used = resources or self.resources
        router = AbsoluteFormRouter(used, this_service=self.this_service, leave=leave)
        return ClientConnection(used, router, ended)


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
