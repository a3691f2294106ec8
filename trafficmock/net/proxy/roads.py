"""How a server is reached: by name or by --resolve, with TLS where it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twisted.internet.interfaces import IStreamClientEndpoint

    from trafficmock.net.proxy.target import Origin


@define(eq=False, kw_only=True)
class Roads:
    """Makes the endpoint of each server.

    :param reactor: connects and resolves names.
    :param connect_seconds: for a connection to be taken.
    :param resolved: addresses that are given for a host and port, as curl's ``--resolve``.
    :param tls: makes what checks the certificate of a host.
    """

    reactor: Any
    connect_seconds: float
    resolved: Mapping[tuple[str, int], str] = field(factory=dict)
    tls: Callable[[str], Any]

    def to(self, origin: Origin) -> IStreamClientEndpoint:
        """Give the endpoint of a server, with TLS for https."""
        plain = self.to_host(origin.host, origin.port)
        if origin.scheme != "https":
            return plain
        return wrapClientTLS(self.tls(origin.host), plain)

    def to_host(self, host: str, port: int) -> IStreamClientEndpoint:
        """Give the endpoint of a host without anything on top."""
        address = self.resolved.get((host, port), host)
        return HostnameEndpoint(
            self.reactor, address, port, timeout=self.connect_seconds
        )
