"""The one connection to its server that a tunnel has, as the client would have it directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from attrs import define, field

from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.connection_pool import ConnectionPool
from trafficmock.proxy.upstream.upstream_connection import UpstreamConnection

RESET_SECONDS = 0.05
"""How long a client has to read an answer before a reset of its server is passed on."""


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
    :param lost: called when the server ends the connection between two requests, with whether that
        is to be a reset for the client, too.
    """

    pool: ConnectionPool
    origin: Origin
    lost: Callable[[bool], None]
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
            connection.idle_since = self.pool.clock.seconds()
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
        """Tell of the loss. A reset right behind an answer might keep the client from it."""
        kept, self._kept = self._kept, None
        idle = 0.0 if kept is None else self.pool.clock.seconds() - kept.idle_since
        self.lost(kept is not None and not kept.was_closed and idle >= RESET_SECONDS)
