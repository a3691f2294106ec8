"""The forward proxy put together, and its place beside the service itself."""

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
from trafficmock.proxy.proxy_settings import ProxyContext
from trafficmock.proxy.upstream.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.http.access import AccessPolicy
    from trafficmock.proxy.http1.heads import Pairs
    from trafficmock.proxy.proxy_clients import CoordinatorGateway
    from trafficmock.proxy.proxy_settings import Certificates, ProxySettings
    from trafficmock.proxy.request_target import Origin
    from trafficmock.proxy.upstream.dialer import Dialer


@define(eq=False)
class ForwardProxy:
    """Takes the connections that are for other servers.

    :param context: what they have in common.
    :param guard: knows the names of this service.
    """

    context: ProxyContext
    guard: AccessPolicy

    def sniffer(self, service: ServiceFactory, ended: Callable[[], None]) -> ProtocolSniffer:
        """Make the protocol for the first bytes of a connection.

        :param service: makes the protocol of the service itself.
        :param ended: counts the end of the connection; the service counts its own.
        """
        return ProtocolSniffer(
            proxy=lambda: self._client(service, ended),
            service=service,
            ended=ended,
            clock=self.context.reactor,
            seconds=self.context.settings.idle_seconds,
        )

    def is_this_service(self, host: str, port: int, local: Any) -> bool:
        """Tell whether a host and port are this very service, by its names.

        :param local: the local address that the client came to.
        """
        bound_host, bound_port = getattr(local, "host", None), getattr(local, "port", None)
        return port == bound_port and self.guard.is_this_service(host, bound_host)

    def stop(self) -> bool:
        """Answer who waits, and close the connections to servers that are not in use.

        :returns: whether answers may be on their way.
        """
        self.context.pool.stop()
        return self.context.proxy_clients.stop()

    def _client(self, service: ServiceFactory, ended: Callable[[], None]) -> ClientConnection:
        def leave(connection: ClientConnection, raw: bytes) -> None:
            hand_over(connection.transport, service(once=True), raw)

        router = AbsoluteFormRouter(self.context, is_this_service=self.is_this_service, leave=leave)
        return ClientConnection(self.context, router, ended)


def make_forward_proxy(
    *,
    settings: ProxySettings,
    gateway: CoordinatorGateway,
    guard: AccessPolicy,
    dialer: Dialer,
    certificates: Certificates,
    version: str,
    reactor: Any,
    stamp: Callable[[Origin, Pairs], Pairs] | None = None,
) -> ForwardProxy:
    """Put the forward proxy together.

    :param gateway: the way to the core.
    :param guard: knows the names of this service.
    :param dialer: the ways to servers.
    :param certificates: what clients are shown behind CONNECT.
    :param version: of the service, which proxy clients send in their hello.
    :param stamp: see :class:`~trafficmock.proxy.proxy_settings.ProxyContext`.
    """
    context = ProxyContext(
        settings=settings,
        reactor=reactor,
        proxy_clients=ProxyClients(
            gateway=gateway, clock=reactor, version=version, token=settings.token
        ),
        pool=ConnectionPool(dialer, reactor, settings.max_header_bytes),
        dialer=dialer,
        certificates=certificates,
        stamp=stamp,
    )
    return ForwardProxy(context, guard)
