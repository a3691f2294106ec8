"""The HTTP side put together: limits, root resource and REST on one Twisted site."""

import secrets
from collections.abc import Callable
from typing import Any

from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.http import Request
from twisted.web.resource import IResource
from twisted.web.server import Site

from trafficmock.history.store import History
from trafficmock.http.access import AccessPolicy
from trafficmock.http.http_limits import ConnectionCount, HttpLimits
from trafficmock.http.service_request import ServiceRequest
from trafficmock.http.service_target import ForwardRefusal
from trafficmock.proxy.downstream.forward_proxy import ForwardProxy
from trafficmock.server.http_channel import ServiceChannel, bare_answer
from trafficmock.server.rest.rest_api import ConnectionsReport, RestApi
from trafficmock.server.root_resource import RootResource


class CountedChannel(ServiceChannel):
    """A channel that counts as an open connection until it is lost or replaced.

    :param connections: has let this connection in.
    :param once: it is closed after one answer. A client that takes the service for its proxy
        asks for other servers next, and on a new connection it may.
    """

    def __init__(
        self, *, connections: ConnectionCount, max_header_bytes: int, once: bool = False
    ) -> None:
        super().__init__(max_header_bytes=max_header_bytes)
        self._connections = connections
        self._once = once

    def checkPersistence(self, request: Request, version: bytes) -> bool:  # noqa: N802 - Twisted's name
        """Tell whether the connection lasts, and say so where it does not."""
        if self._once:
            request.responseHeaders.setRawHeaders(b"connection", [b"close"])
            return False
        return bool(super().checkPersistence(request, version))

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        self._connections.leave()
        super().connectionLost(reason)


class RefusedConnection(Protocol):
    """Answers 503 to a connection that is one too many, without reading what it wants."""

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Answer and close."""
        assert self.transport is not None  # noqa: S101 - for the type checker
        self.transport.write(
            bare_answer(
                503,
                "too_many_connections",
                "Too many connections are open. Close some, or raise --max-connections.",
            )
        )
        self.transport.loseConnection()


class ServiceSite(Site):
    """Makes a channel for each connection, as long as there are not too many.

    There is no access log, and none is paid for.

    :param resource: the root.
    :param server_header: the ``Server`` of each answer.
    :param connections: counts what is open.
    :param limits: of the HTTP side.
    :param reactor: for timeouts.
    :param forward: takes the connections that are for other servers.
    """

    noisy = False
    requestFactory = ServiceRequest  # noqa: N815 - Twisted's name

    def __init__(
        self,
        resource: IResource,
        *,
        server_header: bytes,
        connections: ConnectionCount,
        limits: HttpLimits,
        reactor: IReactorTime,
        forward: ForwardProxy | None = None,
    ) -> None:
        super().__init__(
            resource, timeout=limits.idle_seconds, reactor=reactor, parsePOSTFormSubmission=False
        )
        self.server_header = server_header
        self.connections = connections
        self._limits = limits
        self._forward = forward

    def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: ARG002, N802 - Twisted's signature
        """Make the protocol of a new connection."""
        if not self.connections.enter():
            return RefusedConnection()
        if self._forward is None:
            return self._channel(once=False)
        return self._forward.sniffer(self._channel, self.connections.leave)

    def _channel(self, *, once: bool) -> CountedChannel:
        channel: Any = CountedChannel(
            connections=self.connections,
            max_header_bytes=self._limits.max_header_bytes,
            once=once,
        )
        channel.factory = self
        channel.site = self
        channel.requestFactory = self.requestFactory
        channel.timeOut = self.timeOut
        channel.callLater = self.reactor.callLater
        made: CountedChannel = channel
        return made

    def startFactory(self) -> None:  # noqa: N802 - Twisted's name
        """Do not start the clock of an access log."""

    def stopFactory(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: nothing was started."""

    def log(self, request: Request) -> None:
        """Do not log a request."""


def make_site(
    *,
    history: History,
    connections: Callable[[bool], ConnectionsReport],
    ca_pem: Callable[[], bytes],
    websocket: IResource,
    guard: AccessPolicy,
    version: str,
    capture: str,
    limits: HttpLimits,
    reactor: IReactorTime,
    start: str | None = None,
    forward: ForwardProxy | None = None,
) -> ServiceSite:
    """Put the HTTP side together.

    :param history: what REST shows.
    :param connections: gives the ``nodeAgents`` and ``runnerWorkers`` of ``/api/connections``,
        the latter with their tests if asked so.
    :param ca_pem: gives the certificate of the local authority for ``/ca.pem``.
    :param websocket: takes over a connection that asked for an upgrade on ``/ws``, and was
        let in.
    :param guard: who may come in.
    :param version: of the service.
    :param capture: the capture mode: ``all``, ``handled`` or ``none``.
    :param limits: of the HTTP side.
    :param reactor: for timeouts and for giving way.
    :param start: tells this process from others in entity tags; made up when left out.
    :param forward: takes the connections that are for other servers.
    :returns: the factory to listen with. Its ``connections.open`` says how many are open.
    """
    rest = RestApi(
        history=history,
        connections=connections,
        ca_pem=ca_pem,
        guard=guard,
        version=version,
        capture=capture,
        start=start or secrets.token_hex(4),
        reactor=reactor,
    )
    count = ConnectionCount(limits.max_connections, reactor.seconds)
    root = RootResource(guard, rest.resource(), websocket, ForwardRefusal(), count)
    return ServiceSite(
        root,
        server_header=f"trafficmock/{version}".encode("ascii"),
        connections=count,
        limits=limits,
        reactor=reactor,
        forward=forward,
    )
