"""What lies behind CONNECT: TLS that is opened, plain HTTP, or bytes that nobody reads."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any

from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.internet.protocol import Protocol, connectionDone
from zope.interface import implementer

from trafficmock import records
from trafficmock.proxy.upstream_errors import LOOP_DETECTED, UpstreamError, upstream_error
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from trafficmock.http.hosts import Authority
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.proxy.proxy_settings import ProxyContext

SILENCE_SECONDS = 0.3
"""When a client has said nothing for so long, it may be waiting for the server to speak."""

_HANDSHAKE = 0x16
"""The first byte of TLS (RFC 8446 section 5.1)."""

_HTTP_2 = b"PRI * HTTP/2"
"""What HTTP/2 without TLS begins with (RFC 9113 section 3.4): used by gRPC, not by the proxy."""

_REQUEST = re.compile(rb"[A-Z]{3,20} [ -~]")
_MAYBE_REQUEST = re.compile(rb"[A-Z]{0,20} ?")


def kind_of(data: bytes) -> str | None:
    """Recognise a client's protocol by its first bytes.

    :returns: ``tls``, ``http`` or ``blind``; ``None`` when it cannot be told yet.
    """
    if not data:
        return None
    if data[0] == _HANDSHAKE:
        return "tls"
    if data.startswith(_HTTP_2):
        return "blind"
    if _HTTP_2.startswith(data):
        return None
    if _REQUEST.match(data):
        return "http"
    return None if _MAYBE_REQUEST.fullmatch(data) else "blind"


def server_name(authority: Authority) -> str:
    """Write ``host:port``."""
    name = f"[{authority.host}]" if ":" in authority.host else authority.host
    return f"{name}:{authority.port}"


def tunnel_request(server: str, headers: dict[str, str]) -> SerializedRequest:
    """Describe a tunnel: its URL is only a way to name its server.

    :param server: see :func:`server_name`.
    :param headers: of its CONNECT.
    """
    return SerializedRequest(f"https://{server}/", "CONNECT", headers, bodies.NULL)


class TunnelRecord:
    """A tunnel as the history shows it: one row, which no route decides about.

    :param proxy_client: whose it is.
    :param authority: ``host:port`` that it leads to.
    """

    def __init__(self, proxy_client: ProxyClient, authority: str, headers: dict[str, str]) -> None:
        self._proxy_client = proxy_client
        self._id = str(uuid.uuid4())
        self._open = True
        request = tunnel_request(authority, headers)
        self._url = request.url
        proxy_client.record(records.RequestSeen(self._id, proxy_client.client_id, request))

    def ended(self, error: UpstreamError | None = None) -> None:
        """Note how it ended; only the first time counts."""
        if not self._open:
            return
        self._open = False
        self._proxy_client.record(records.RequestPassedThrough(self._id))
        if error is None:
            response = SerializedResponse(200, "Connection established", {}, bodies.NULL, self._url)
            self._proxy_client.record(records.ResponseReported(self._id, response, None))
        else:
            failed = records.ResponseReported(self._id, None, error.serialized())
            self._proxy_client.record(failed)


class Tunnel:
    """Carries bytes between a client and a server without reading them.

    :param client: the transport of the client.
    :param authority: of the server.
    :param entry: makes the tunnel's row in the history.
    :param server_spoke: called when the server says something before anybody knows what
        the client speaks; it has it carried, or ends it.
    """

    def __init__(
        self,
        client: Any,
        context: ProxyContext,
        authority: Authority,
        *,
        entry: Callable[[], TunnelRecord],
        server_spoke: Callable[[], None],
    ) -> None:
        self.blind = False
        self._client = client
        self._context = context
        self._authority = authority
        self._make_entry = entry
        self._entry: TunnelRecord | None = None
        self._server_spoke = server_spoke
        self._server: Any = None
        self._opening: Deferred[Any] | None = None
        self._waiting: list[bytes] = []
        self._client_done = False
        self._server_done = False
        self._over = False

    def open(self) -> None:
        if self._opening is None and self._server is None and not self._over:
            host, port = self._authority.host, self._authority.port or 0
            dialer = self._context.dialer
            endpoint, name = dialer.host_endpoint(host, port), f"{host}:{port}"
            self._opening = dialer.connect(
                endpoint, lambda: TunnelServer(self), name, self._client.getHost()
            )
            self._opening.addCallbacks(self._opened, self._not_opened)

    def carry_blindly(self, data: bytes) -> None:
        """Read nothing of what passes, beginning with ``data`` of the client."""
        self.blind = True
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
        """Pass on what the client sends."""
        if self._server is None:
            self._waiting.append(data)
        else:
            self._server.write(data)

    def client_done(self) -> None:
        """Pass on that the client has closed its direction."""
        self._client_done = True
        if self._server_done:
            self._end()
        elif self._server is not None:
            self._server.loseWriteConnection()

    def client_lost(self) -> None:
        """End the server's side; also when the client's protocol turns out to be readable."""
        if self._over:
            return
        self._over = True
        if self._entry is not None:
            self._entry.ended()
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.addErrback(lambda _: None)
            opening.cancel()
        if self._server is not None:
            self._server.unregisterProducer()
            self._server.loseConnection()

    # The server's side

    def from_server(self, data: bytes) -> None:
        """Pass on what the server sends; from a server that speaks first, too."""
        if self._over:
            return
        if not self.blind:
            self._server_spoke()
        if not self._over:
            self._client.write(data)

    def server_done(self) -> None:
        """Pass on that the server has closed its direction."""
        self._server_done = True
        if self._over or not self.blind:
            return
        if self._client_done:
            self._end()
        else:
            self._client.loseWriteConnection()

    def server_lost(self) -> None:
        self._server = None
        if self._over or not self.blind:
            return
        self._over = True
        if self._entry is not None:
            self._entry.ended()
        self._client.unregisterProducer()
        self._client.loseConnection()

    def _end(self) -> None:
        """Close both sides: each has ended its direction, which closes nothing in Twisted."""
        if self._over:
            return
        self._over = True
        if self._entry is not None:
            self._entry.ended()
        for side in (self._server, self._client):
            if side is not None:
                side.unregisterProducer()
                side.loseConnection()

    def _opened(self, side: TunnelServer) -> None:
        self._opening = None
        transport = side.transport
        if self._over:
            transport.abortConnection()
        else:
            self._server = transport
            if self.blind:
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
        if not self._over and (self.blind or error.code == LOOP_DETECTED):
            self._cannot(error)

    def _cannot(self, error: UpstreamError) -> None:
        self._over = True
        if self._entry is not None:
            self._entry.ended(error)
        self._client.abortConnection()


@implementer(IHalfCloseableProtocol)
class TunnelServer(Protocol):
    """The server's end of a tunnel."""

    transport: Any

    def __init__(self, tunnel: Tunnel) -> None:
        self._tunnel = tunnel

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Send small pieces without delay."""
        self.transport.setTcpNoDelay(True)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Forward bytes to the client."""
        self._tunnel.from_server(data)

    def readConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Forward the server's FIN to the client."""
        self._tunnel.server_done()

    def writeConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Continue to read: the proxy itself closed this direction."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002, N802 - Twisted's signature
        """End the tunnel."""
        self._tunnel.server_lost()
