"""Connections to servers, kept for the next request."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory
from twisted.python.failure import Failure

from trafficmock.net.proxy.upstream import UpstreamConnection

if TYPE_CHECKING:
    from twisted.internet.interfaces import IDelayedCall, IReactorTime

    from trafficmock.net.proxy.roads import Roads
    from trafficmock.net.proxy.target import Origin

KEPT_SECONDS = 4.0
"""How long an unused connection is kept: many servers close them after five seconds."""

FRESH_SECONDS = 1.0
"""How long it is good for a request that must not be sent twice."""

MOST_KEPT = 256
"""Unused connections, over all servers."""


@define(eq=False)
class Pool:
    """Gives connections out, and takes them back.

    :param roads: how servers are reached.
    :param clock: for the time that connections are kept.
    :param max_header_bytes: for the heads of answers.
    """

    roads: Roads
    clock: IReactorTime
    max_header_bytes: int
    open: set[UpstreamConnection] = field(factory=set)
    _idle: dict[Origin, deque[UpstreamConnection]] = field(factory=dict)
    _kept: dict[UpstreamConnection, Origin] = field(factory=dict)
    _timer: IDelayedCall | None = None

    def take(self, origin: Origin, *, repeatable: bool) -> UpstreamConnection | None:
        """Give a connection that was used before, if there is one.

        :param repeatable: the request may be sent again when the server has just closed it.
        """
        idle = self._idle.get(origin)
        if not idle:
            return None
        connection = idle[-1]
        if not repeatable and connection.idle_since + FRESH_SECONDS < self.clock.seconds():
            return None
        self._forget(connection)
        return connection

    def connect(self, origin: Origin) -> Deferred[UpstreamConnection]:
        """Open a connection; cancelling the Deferred gives up."""
        opening: Deferred[UpstreamConnection] = Deferred(lambda _: connecting.cancel())

        def ready(connection: UpstreamConnection) -> None:
            if opening.called:
                connection.cancel()
            else:
                opening.callback(connection)

        def ended(connection: UpstreamConnection, error: BaseException) -> None:
            self.open.discard(connection)
            self._forget(connection)
            if not opening.called:
                opening.errback(Failure(error))

        def build() -> UpstreamConnection:
            connection = UpstreamConnection(
                max_header_bytes=self.max_header_bytes,
                ready=ready,
                ended=ended,
                tls=origin.scheme == "https",
            )
            self.open.add(connection)
            return connection

        connecting = self.roads.to(origin).connect(_Factory(build))
        connecting.addErrback(lambda failure: opening.called or opening.errback(failure))
        return opening

    def give_back(self, origin: Origin, connection: UpstreamConnection) -> None:
        """Keep a connection for the next request, or close it."""
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
        """Close everything."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in list(self.open):
            if connection.transport is not None:
                connection.cancel()

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


class _Factory(Factory):
    noisy = False

    def __init__(self, build) -> None:
        self._build = build

    def buildProtocol(self, addr):
        return self._build()
