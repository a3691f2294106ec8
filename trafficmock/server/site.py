"""Builds the Twisted site: connection limits, root resource and REST."""

import secrets
from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred, maybeDeferred
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
from trafficmock.proxy.downstream.forward_proxy import ForwardProxy
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.http_channel import ServiceChannel, bare_answer
from trafficmock.server.rest.rest_api import ConnectionsReport, RestApi
from trafficmock.server.root_resource import RootResource


class CountedChannel(ServiceChannel):
    """A channel that counts as an open connection until it is lost or replaced.

    :param connections: the count, which has admitted this connection.
    :param once: whether to close the connection after one response. The client uses this service
        as its proxy, and its next request may be for another server; on a new connection the
        forward proxy gets it.
    """

    def __init__(
        self, *, connections: ConnectionCount, max_header_bytes: int, once: bool = False
    ) -> None:
        super().__init__(max_header_bytes=max_header_bytes)
        self._connections = connections
        self._once = once

    def checkPersistence(self, request: Request, version: bytes) -> bool:  # noqa: N802 - Twisted's name
        """Return whether the connection stays open, and set ``Connection: close`` if ``once``."""
        if self._once:
            request.responseHeaders.setRawHeaders(b"connection", [b"close"])
            return False
        return bool(super().checkPersistence(request, version))

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        self._connections.leave()
        super().connectionLost(reason)


class RefusedConnection(Protocol):
    """Answers 503 to a connection above ``--max-connections``, without reading its request."""

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
    """Makes the protocol of each connection, up to the limit of open ones.

    It has no access log, whose formatting would cost time for each request.

    :param resource: the root resource.
    :param server_header: the value of ``Server`` in responses.
    :param connections: counts open connections.
    :param strict: whether the service is strict.
    :param limits: the limits of HTTP connections.
    :param reactor: for timeouts.
    :param forward: the forward proxy; ``None`` for none.
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
        """Do nothing: the base class would start the clock of the access log."""

    def stopFactory(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: there is no clock to stop."""

    def log(self, request: Request) -> None:
        """Do nothing: requests are not logged."""


def make_site(
    *,
    history: History,
    connections: Callable[[bool], ConnectionsReport],
    ca_pem: Callable[[], bytes],
    websocket: IResource,
    guard: AccessPolicy,
    version: str,
    capture: str,
    strict: bool = False,
    limits: HttpLimits,
    reactor: IReactorTime,
    start: str | None = None,
    forward: ForwardProxy | None = None,
    redactor: Redactor | None = None,
    apart: Callable[..., Deferred[Any]] = maybeDeferred,
) -> ServiceSite:
    """Build the site.

    :param history: the entries of the REST API.
    :param connections: returns the body of ``/api/connections``; with ``True``, with the tests of
        workers.
    :param ca_pem: returns the certificate of the local authority for ``/ca.pem``.
    :param websocket: takes over the connection of an upgrade on ``/ws``, after it was checked.
    :param guard: decides which hosts, origins and peers are allowed.
    :param version: the version of the service.
    :param capture: the capture mode: ``all``, ``handled`` or ``none``.
    :param limits: the limits of HTTP connections.
    :param reactor: for timeouts, and to schedule slices of long responses.
    :param start: identifies this process in entity tags; random by default.
    :param forward: the forward proxy; ``None`` for none.
    :param redactor: replaces secrets in what REST clients write to files.
    :param apart: runs a function that may take long, for example in a thread.
    :returns: the factory to listen with. Its ``connections.open`` is the number of open ones.
    """
    rest = RestApi(
        history=history,
        connections=connections,
        ca_pem=ca_pem,
        guard=guard,
        version=version,
        capture=capture,
        strict=strict,
        start=start or secrets.token_hex(4),
        reactor=reactor,
        redactor=redactor or Redactor(),
        apart=apart,
    )
    count = ConnectionCount(limits.max_connections, reactor.seconds)
    root = RootResource(guard, rest.resource(), websocket, count)
    return ServiceSite(
        root,
        server_header=f"trafficmock/{version}".encode("ascii"),
        connections=count,
        limits=limits,
        reactor=reactor,
        forward=forward,
    )
