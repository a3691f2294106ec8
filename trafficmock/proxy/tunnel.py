"""A CONNECT tunnel whose bytes the proxy forwards without parsing them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.http.hosts import Authority
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.tunnel_record import TunnelRecord
from trafficmock.proxy.upstream.tied_upstream import RESET_SECONDS
from trafficmock.proxy.upstream_errors import LOOP_DETECTED, UpstreamError, upstream_error


class TunnelState(Enum):
    """The states of a tunnel, in their order."""

    SNIFFED = "the client's protocol is unknown; the server may be connected, as it may speak first"
    CARRYING = "bytes are forwarded in both directions, once the server is connected"
    OVER = "a side is gone, or the client's protocol is parsed by the proxy"


class Tunnel:
    """Forwards bytes between a client and a server without parsing them.

    :param client: the transport of the client.
    :param authority: host and port of the server.
    :param entry: makes the tunnel's row in the history, ``None`` in a browser proxy.
    :param server_spoke: called if the server sends bytes before the client's protocol is known;
        it calls :meth:`carry_blindly` or :meth:`client_lost`.
    """

    def __init__(
        self,
        client: Any,
        resources: ProxyResources,
        authority: Authority,
        *,
        entry: Callable[[], TunnelRecord | None],
        server_spoke: Callable[[], None],
    ) -> None:
        self._client = client
        self._resources = resources
        self._authority = authority
        self._make_entry = entry
        self._entry: TunnelRecord | None = None
        self._server_spoke = server_spoke
        self._server: Any = None
        self._opening: Deferred[Any] | None = None
        self._waiting: list[bytes] = []
        self._client_done = False
        self._server_done = False
        self._state = TunnelState.SNIFFED

    @property
    def blind(self) -> bool:
        """Whether the client's bytes go into the tunnel: its protocol is not to be detected."""
        return self._state is not TunnelState.SNIFFED

    def open(self) -> None:
        """Connect to the server, once."""
        over = self._state is TunnelState.OVER
        if self._opening is None and self._server is None and not over:
            host, port = self._authority.host, self._authority.port or 0
            dialer = self._resources.dialer
            endpoint, name = dialer.host_endpoint(host, port), f"{host}:{port}"
            self._opening = dialer.connect(
                endpoint, lambda: TunnelServer(self), name, self._client.getHost()
            )
            self._opening.addCallbacks(self._opened, self._not_opened)

    def carry_blindly(self, data: bytes) -> None:
        """Forward all bytes from now on, and record the tunnel.

        :param data: the bytes that the client has sent already.
        """
        self._state = TunnelState.CARRYING
        self._entry = self._make_entry()
        if data:
            self._waiting.append(data)
        if self._server is None:
            self._client.pauseProducing()
            self.open()
        else:
            self._join()

    # The client's side

    def from_client(self, data: bytes) -> None:
        """Forward bytes of the client; they are dropped once the server is gone."""
        if self._server is not None:
            self._server.write(data)
        elif self._state is TunnelState.CARRYING:
            self._waiting.append(data)

    def client_done(self) -> None:
        """Forward the client's FIN."""
        self._client_done = True
        if self._server_done:
            self._end()
        elif self._server is not None:
            self._server.loseWriteConnection()

    def client_lost(self) -> None:
        """Close the server's connection: the client is gone, or its protocol is parsed."""
        if self._state is TunnelState.OVER:
            return
        self._is_over()
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.addErrback(lambda _: None)
            opening.cancel()
        if self._server is not None:
            self._server.unregisterProducer()
            self._server.loseConnection()

    # The server's side

    def from_server(self, data: bytes) -> None:
        """Forward bytes of the server, which may speak before the client."""
        if self._state is TunnelState.SNIFFED:
            self._server_spoke()
        if self._state is not TunnelState.OVER:
            self._client.write(data)

    def server_done(self) -> None:
        """Forward the server's FIN."""
        self._server_done = True
        if self._state is not TunnelState.CARRYING:
            return
        if self._client_done:
            self._end()
        else:
            self._client.loseWriteConnection()

    def server_lost(self, *, is_reset: bool = False) -> None:
        """Close the client's connection; reset it after the server's, once its bytes are read."""
        self._server = None
        if self._state is not TunnelState.CARRYING:
            return
        self._is_over()
        self._client.unregisterProducer()
        if is_reset:
            self._resources.reactor.callLater(RESET_SECONDS, self._client.abortConnection)
        else:
            self._client.loseConnection()

    def _end(self) -> None:
        """Close both connections after a FIN of each side: Twisted does not close them itself."""
        if self._state is TunnelState.OVER:
            return
        self._is_over()
        for side in (self._server, self._client):
            if side is not None:
                side.unregisterProducer()
                side.loseConnection()

    def _opened(self, side: TunnelServer) -> None:
        self._opening = None
        transport = side.transport
        if self._state is TunnelState.OVER:
            transport.abortConnection()
            return
        self._server = transport
        if self._state is TunnelState.CARRYING:
            self._join()

    def _join(self) -> None:
        self._server.registerProducer(self._client, True)  # noqa: FBT003 - Twisted's
        self._client.registerProducer(self._server, True)  # noqa: FBT003 - Twisted's
        self._client.resumeProducing()
        for data in self._waiting:
            self._server.write(data)
        self._waiting.clear()
        if self._client_done:
            self._server.loseWriteConnection()
        if self._server_done:
            self.server_done()

    def _not_opened(self, failure: Failure) -> None:
        self._opening = None
        error = upstream_error(failure.value, self._authority.host)
        carrying = self._state is TunnelState.CARRYING
        looped = self._state is TunnelState.SNIFFED and error.code == LOOP_DETECTED
        if carrying or looped:
            self._is_over(error)
            self._client.abortConnection()

    def _is_over(self, error: UpstreamError | None = None) -> None:
        """Stop forwarding, and record the end of the tunnel."""
        self._state = TunnelState.OVER
        if self._entry is not None:
            self._entry.ended(error)


@implementer(IHalfCloseableProtocol)
class TunnelServer(Protocol):
    """The protocol of the connection to a tunnel's server."""

    transport: Any

    def __init__(self, tunnel: Tunnel) -> None:
        self._tunnel = tunnel

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Disable Nagle's algorithm, so that small pieces are sent without delay."""
        self.transport.setTcpNoDelay(True)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Forward bytes of the server to the client."""
        self._tunnel.from_server(data)

    def readConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Forward the server's FIN to the client."""
        self._tunnel.server_done()

    def writeConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the proxy closed this direction itself, and goes on reading."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """End the tunnel."""
        self._tunnel.server_lost(is_reset=not isinstance(reason.value, ConnectionDone))
