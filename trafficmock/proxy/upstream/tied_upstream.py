"""The one connection to its server that a tunnel has, as the client would have it directly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.proxy.request_target import Origin
    from trafficmock.proxy.upstream.connection_pool import ConnectionPool
    from trafficmock.proxy.upstream.upstream_connection import UpstreamConnection


class Upstreams(Protocol):
    """Keeps connections to servers between requests; see :class:`.ConnectionPool`."""

    def take(self, origin: Origin, *, repeatable: bool) -> UpstreamConnection | None:
        """Take an idle connection; ``None`` if there is no suitable one."""

    def give_back(self, origin: Origin, connection: UpstreamConnection) -> None:
        """Keep a connection for later requests, or close it if it cannot be reused."""


@define(eq=False)
class TiedUpstream:
    """Keeps the connection to the server of a tunnel for the tunnel's later requests.

    A client's new connection is a new one to the server, and its reused one is the same. So a
    client sees the server close its idle connection, and sends the next request over another one.
    No request has to be sent again.

    :param pool: for requests whose origin a test changed.
    :param origin: the server of the tunnel.
    :param lost: called when the server closes the connection between two requests.
    """

    pool: ConnectionPool
    origin: Origin
    lost: Callable[[], None]
    _kept: UpstreamConnection | None = field(default=None, init=False)

    def take(self, origin: Origin, *, repeatable: bool) -> UpstreamConnection | None:
        """Take the connection out, if it can be used for another request."""
        if origin != self.origin:
            return self.pool.take(origin, repeatable=repeatable)
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.lost_idle = None
        return kept

    def give_back(self, origin: Origin, connection: UpstreamConnection) -> None:
        """Keep the connection until the next request, or close it if it cannot be reused."""
        if origin != self.origin:
            self.pool.give_back(origin, connection)
        elif connection.reusable:
            connection.lost_idle = self._lost
            self._kept = connection
        elif not connection.lost:
            connection.transport.loseConnection()

    def close(self) -> None:
        """Close the connection, because the client's is gone."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.lost_idle = None
            kept.transport.loseConnection()

    def _lost(self) -> None:
        self._kept = None
        self.lost()
