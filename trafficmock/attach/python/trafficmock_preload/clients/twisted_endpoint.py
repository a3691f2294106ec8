"""An endpoint of Twisted that opens tunnels; imported only where ``Agent`` is used."""

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
    """Connects to a server by a tunnel through the proxy.

    :param creator: makes the client side of TLS with the server; ``None`` for plain HTTP.
    :param seconds: how long connecting to the proxy may take; ``None`` for Twisted's default.
    :param mark: called with the protocol of a tunnel that the proxy reads.
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
        """Open a tunnel.

        :returns: fires with the protocol of the factory, which speaks in the tunnel.
        """
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
        """Give the connection to the request's protocol, within TLS if there is a creator."""
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
    """Make the client side of TLS that trusts the proxy's authority alone."""
    from OpenSSL import crypto
    from twisted.internet.ssl import Certificate, optionsForClientTLS

    return optionsForClientTLS(host, trustRoot=Certificate.load(authority, crypto.FILETYPE_ASN1))


class Opening(Protocol):
    """Sends ``CONNECT`` to the proxy.

    :param request: the bytes of the ``CONNECT``.
    :ivar opened: fires with the proxy's authority in DER; with ``None`` if the proxy does not read
        the tunnel.
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
        """Give the connection to another protocol."""
        self._successor, self._factory = successor, factory
        successor.makeConnection(self.transport)

    def connectionLost(self, reason: Any = connectionDone) -> None:
        """Report the end of the connection to the other protocol, or by :attr:`opened`."""
        if self._successor is not None:
            self._successor.connectionLost(reason)
            self._factory.doStop()
        else:
            self._fail(self._closed)
