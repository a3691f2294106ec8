"""Opens connections to servers, and keeps idle ones for later requests."""

from __future__ import annotations

from collections import deque
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred, fail
from twisted.internet.error import TimeoutError  # noqa: A004 - Twisted's
from twisted.internet.interfaces import IDelayedCall, IReactorTime, IStreamClientEndpoint
from twisted.python.failure import Failure

from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.upstream_connection import UpstreamConnection

KEPT_SECONDS = 4.0
"""How long an idle connection is kept. Many servers close them after five seconds."""

FRESH_SECONDS = 1.0
"""How long a connection may be idle to be used for a request that must not be sent twice.

The server may be closing a connection that was idle for longer.
"""

MOST_KEPT = 256
"""The most idle connections that are kept, to all servers together."""


@define(eq=False)
class ConnectionPool:
    """The connections to servers; idle ones are found by origin.

    :param dialer: opens connections.
    :param clock: monotonic seconds, and timers.
    :param max_header_bytes: the longest head of a response.
    """

    dialer: Dialer
    clock: IReactorTime
    max_header_bytes: int
    open: set[UpstreamConnection] = field(factory=set)
    _idle: dict[Origin, deque[UpstreamConnection]] = field(factory=dict)
    _kept: dict[UpstreamConnection, Origin] = field(factory=dict)
    _timer: IDelayedCall | None = None

    def take(self, origin: Origin, *, repeatable: bool) -> UpstreamConnection | None:
        """Take an idle connection out of the pool.

        :param repeatable: whether the request may be sent again if the server has just closed the
            connection.
        :returns: ``None`` if there is no suitable connection.
        """
        idle = self._idle.get(origin)
        if not idle:
            return None
        connection = idle[-1]
        if not repeatable and connection.idle_since + FRESH_SECONDS < self.clock.seconds():
            return None
        self._forget(connection)
        return connection

    def connect(self, origin: Origin, reached_at: Any = None) -> Deferred[UpstreamConnection]:
        """Open a new connection, with TLS for https; cancelling the Deferred gives up.

        :param reached_at: the local address to which the client connected, to detect loops.
        """
        try:
            endpoint = self.dialer.to(origin)
        except ValueError as error:
            return fail(error)
        opening = _Opening(self, origin)
        opening.start(endpoint, reached_at)
        return opening.done

    def give_back(self, origin: Origin, connection: UpstreamConnection) -> None:
        """Keep a connection for later requests, or close it if it cannot be reused."""
        if not connection.reusable or len(self._kept) >= MOST_KEPT:
            if not connection.lost:
                connection.transport.loseConnection()
            return
        connection.idle_since = self.clock.seconds()
        self._idle.setdefault(origin, deque()).append(connection)
        self._kept[connection] = origin
        if self._timer is None:
            self._timer = self.clock.callLater(KEPT_SECONDS, self._sweep)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in list(self.open):
            if connection.transport is not None:
                connection.cancel()

    def lost(self, connection: UpstreamConnection) -> None:
        """Remove a connection that is lost."""
        self.open.discard(connection)
        self._forget(connection)

    def _forget(self, connection: UpstreamConnection) -> None:
        origin = self._kept.pop(connection, None)
        if origin is not None:
            idle = self._idle[origin]
            if idle[-1] is connection:
                idle.pop()
            else:
                idle.remove(connection)
            if not idle:
                del self._idle[origin]

    def _sweep(self) -> None:
        self._timer = None
        now = self.clock.seconds()
        for connection in list(self._kept):
            if connection.idle_since + KEPT_SECONDS > now:
                self._timer = self.clock.callLater(
                    connection.idle_since + KEPT_SECONDS - now, self._sweep
                )
                return
            self._forget(connection)
            connection.transport.loseConnection()


class _Opening:
    """One connection until it can be used: TCP, and for https the TLS handshake."""

    def __init__(self, pool: ConnectionPool, origin: Origin) -> None:
        self.done: Deferred[UpstreamConnection] = Deferred(lambda _: self._give_up())
        self._pool = pool
        self._origin = origin
        self._connection: UpstreamConnection | None = None
        self._connecting: Deferred[Any] | None = None
        self._timer: IDelayedCall | None = None

    def start(self, endpoint: IStreamClientEndpoint, reached_at: Any) -> None:
        self._connecting = self._pool.dialer.connect(
            endpoint, self._build, self._origin, reached_at
        )
        self._connecting.addCallbacks(self._connected, self._failed)

    def _build(self) -> UpstreamConnection:
        connection = UpstreamConnection(
            max_header_bytes=self._pool.max_header_bytes,
            handshaken=self._handshaken,
            ended=self._ended,
        )
        self._connection = connection
        self._pool.open.add(connection)
        return connection

    def _connected(self, connection: UpstreamConnection) -> None:
        if self.done.called:
            connection.cancel()
        elif self._origin.scheme == "https":
            seconds = self._pool.dialer.connect_seconds
            self._timer = self._pool.clock.callLater(seconds, self._too_slow)
        else:
            self.done.callback(connection)

    def _handshaken(self, connection: UpstreamConnection) -> None:
        self._stop_timer()
        if self.done.called:
            connection.cancel()
            return
        try:
            self._pool.dialer.trust.check_name(connection.transport, self._origin)
        except Exception as error:  # noqa: BLE001 - whatever it is, this server is not trusted
            self._failed(Failure(error))
            connection.cancel()
        else:
            self.done.callback(connection)

    def _ended(self, connection: UpstreamConnection, error: BaseException) -> None:
        self._stop_timer()
        self._pool.lost(connection)
        self._failed(Failure(error))

    def _failed(self, failure: Failure) -> None:
        if not self.done.called:
            self.done.errback(failure)

    def _too_slow(self) -> None:
        self._timer = None
        self._failed(Failure(TimeoutError()))
        if self._connection is not None:
            self._connection.cancel()

    def _give_up(self) -> None:
        self._stop_timer()
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None and self._connection.transport is not None:
            self._connection.cancel()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
