"""Detects the protocol behind ``CONNECT`` by the client's first bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from trafficmock.proxy.tunnel import Tunnel
from trafficmock.proxy.tunnel_record import TunnelRecord, refusal, server_name, tunnel_request

if TYPE_CHECKING:
    from twisted.internet.interfaces import IDelayedCall

    from trafficmock.http.hosts import Authority
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.proxy.proxy_settings import ProxyResources


SILENCE_SECONDS = 0.3
"""After this silence of a client the server is reached: it may be the one that speaks first."""

_HANDSHAKE = 0x16
"""The first byte of TLS (RFC 8446 section 5.1)."""

_HTTP_2 = b"PRI * HTTP/2"
"""The preface of HTTP/2 without TLS (RFC 9113 section 3.4), as gRPC uses it; it is tunnelled."""

_REQUEST = re.compile(rb"[A-Z]{3,20} [ -~]")
_MAYBE_REQUEST = re.compile(rb"[A-Z]{0,20} ?")


def kind_of(data: bytes) -> str | None:
    """Recognise a client's protocol by its first bytes.

    :returns: ``tls``, ``http``, or ``blind`` for all others; ``None`` if more bytes are needed.
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


class HttpContinuation(Protocol):
    """Reads the requests of a client that speaks HTTP, within TLS or not."""

    def __call__(self, data: bytes, *, tls: bool) -> None:
        """Begin to read requests.

        :param data: the bytes that were read behind CONNECT already.
        :param tls: whether they are TLS, which has to be opened first.
        """


class ConnectSniffer:
    """Reads a client's bytes behind CONNECT until its protocol is known.

    HTTP, within TLS or not, is parsed by the proxy; other protocols go through a tunnel. So do
    hosts of ``--tunnel``, and TLS where the proxy does not open it.

    :param client: the transport of the client.
    :param authority: the host and port of CONNECT.
    :param headers: the header of CONNECT.
    :param inside: called if the client speaks HTTP.
    """

    def __init__(
        self,
        client: Any,
        resources: ProxyResources,
        proxy_client: ProxyClient | None,
        *,
        authority: Authority,
        headers: dict[str, str],
        inside: HttpContinuation,
    ) -> None:
        self._buffer = b""
        self._client = client
        self._proxy_client = proxy_client
        self._inside = inside
        self._opens_tls = resources.settings.opens_tls
        self._request = tunnel_request(server_name(authority), headers)
        self._tunnel = Tunnel(
            client,
            resources,
            authority,
            entry=lambda: (
                None
                if proxy_client is None
                else TunnelRecord(proxy_client, server_name(authority), headers)
            ),
            server_spoke=self._go_blind,
        )
        self._timer: IDelayedCall | None = None
        if resources.settings.is_tunnelled(authority):
            self._tunnel.carry_blindly(b"")
        else:
            self._timer = resources.reactor.callLater(SILENCE_SECONDS, self._silent)

    def data_received(self, data: bytes) -> None:
        if self._tunnel.blind:
            self._tunnel.from_client(data)
            return
        self._buffer += data
        kind = kind_of(self._buffer)
        if kind == "blind" or (kind == "tls" and not self._opens_tls):
            self._go_blind()
        elif kind is not None:
            self._stop_timer()
            self._tunnel.client_lost()
            self._inside(self._buffer, tls=kind == "tls")

    def half_closed(self) -> None:
        """Handle the client's FIN."""
        if not self._tunnel.blind:
            self._go_blind()
        self._tunnel.client_done()

    def lost(self) -> None:
        """Handle the loss of the client's connection."""
        self._stop_timer()
        self._tunnel.client_lost()

    def _silent(self) -> None:
        self._timer = None
        if self._buffer:
            self._go_blind()
        elif not self._would_be_refused():
            self._tunnel.open()

    def _would_be_refused(self) -> bool:
        client = self._proxy_client
        return client is not None and client.gateway.tunnels.would_refuse(client, self._request)

    def _go_blind(self) -> None:
        self._stop_timer()
        buffer, self._buffer = self._buffer, b""
        if refusal(self._proxy_client, self._request) is None:
            self._tunnel.carry_blindly(buffer)
        else:
            self._tunnel.client_lost()
            self._client.abortConnection()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
