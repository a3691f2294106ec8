"""Tunnels as endpoints of Twisted; imported only where its ``Agent`` is used."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory, Protocol, connectionDone
from zope.interface import implementer

from trafficmock_preload.proxy_tunnel import TunnelAnswer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trafficmock_preload.proxy_tunnel import Tunnels


@implementer(IStreamClientEndpoint)
class TunnelEndpoint:
    """Connects to a server through the proxy.

    :param creator: makes the client's side of TLS with the server, ``None`` for plain HTTP.
    :param seconds: how long connecting may take.
    :param mark: called with the protocol of a connection that the proxy reads.
    """

    def __init__(
        self,
        reactor: Any,
        tunnels: Tunnels,
        *,
        host: bytes,
        port: int,
        creator: Any,
        seconds: float | None,
        mark: Callable[[Any], None],
    ) -> None:
        self._reactor = reactor
        self._tunnels = tunnels
        self._host = host.decode("ascii")
        self._port = port
        self._creator = creator
        self._seconds = seconds
        self._mark = mark

    def connect(self, protocolFactory: Any) -> Any:  # noqa: N803 - Twisted's name
        """Open a tunnel, and give the protocol that speaks through it."""
        from twisted.internet.defer import fail

        try:
            host, port = self._tunnels.proxy()
        except OSError as error:
            return fail(error)
        more: Any = {} if self._seconds is None else {"timeout": self._seconds}
        endpoint = HostnameEndpoint(self._reactor, host, port, **more)
        opening = Opening(self._tunnels, self._tunnels.request(self._host, self._port))
        connected: Any = endpoint.connect(Factory.forProtocol(lambda: opening))
        connected.addErrback(self._unreachable)
        connected.addCallback(lambda _: opening.opened)
        return connected.addCallback(self._hand_over, opening, protocolFactory)

    def _unreachable(self, failure: Any) -> Any:
        error = failure.value
        text = self._tunnels.not_reached(error)
        raise type(error)(getattr(error, "osError", None), text) from error

    def _hand_over(self, authority: bytes | None, opening: Opening, factory: Any) -> Any:
        """Let the protocol of the request take the connection over."""
        if self._creator is not None:
            from twisted.protocols.tls import TLSMemoryBIOFactory

            creator = self._creator if authority is None else _trusting(self._host, authority)
            factory = TLSMemoryBIOFactory(creator, True, factory)
        factory.doStart()
        protocol = factory.buildProtocol(opening.transport.getPeer())
        opening.hand_over(protocol, factory)
        inner = protocol if self._creator is None else protocol.wrappedProtocol
        if authority is not None:
            self._mark(inner)
        return inner


def _trusting(host: str, authority: bytes) -> Any:
    """Make the client's side of TLS that trusts the proxy alone."""
    from OpenSSL import crypto
    from twisted.internet.ssl import Certificate, optionsForClientTLS

    return optionsForClientTLS(host, trustRoot=Certificate.load(authority, crypto.FILETYPE_ASN1))


class Opening(Protocol):
    """Asks the proxy for a tunnel.

    :param request: the ``CONNECT``.
    :ivar opened: fires with the authority by which the proxy reads the tunnel, or ``None``.
    """

    transport: Any

    def __init__(self, tunnels: Tunnels, request: bytes) -> None:
        self._request = request
        self._answer = TunnelAnswer(tunnels)
        self._closed = tunnels.closed()
        self._successor: Any = None
        self._factory: Any = None
        self.opened: Deferred[bytes | None] = Deferred(lambda _: self.transport.abortConnection())

    def connectionMade(self) -> None:
        """Send the CONNECT request."""
        self.transport.write(self._request)

    def dataReceived(self, data: bytes) -> None:
        """Read the answer to CONNECT; later bytes go to the protocol within the tunnel."""
        if self._successor is not None:
            self._successor.dataReceived(data)
            return
        try:
            is_open = self._answer.add(data)
        except OSError as error:
            self.transport.loseConnection()
            self._fail(error)
        else:
            if is_open:
                self.opened.callback(self._answer.authority)

    def _fail(self, error: OSError) -> None:
        if not self.opened.called:
            self.opened.errback(error)

    def hand_over(self, successor: Any, factory: Any) -> None:
        """Let another protocol speak from now on."""
        self._successor, self._factory = successor, factory
        successor.makeConnection(self.transport)

    def connectionLost(self, reason: Any = connectionDone) -> None:
        """Tell whoever waits."""
        if self._successor is not None:
            self._successor.connectionLost(reason)
            self._factory.doStop()
        else:
            self._fail(self._closed)
