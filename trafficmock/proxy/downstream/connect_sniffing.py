"""Detects the protocol behind ``CONNECT`` by the client's first bytes."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from typing import Any, Protocol

from twisted.internet.interfaces import IDelayedCall

from trafficmock.http.hosts import Authority
from trafficmock.proxy.downstream.client_hello import offered_protocols
from trafficmock.proxy.downstream.client_tls import HTTP_1_1
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.tunnel import Tunnel
from trafficmock.proxy.tunnel_record import TunnelRecord, refusal, server_name, tunnel_request
from trafficmock.proxy.upstream.server_protocols import HTTP_2, Accepted
from trafficmock.wire.http_syntax import TCHAR

SILENCE_SECONDS = 0.3
"""After this silence of a client the server is reached: it may be the one that speaks first."""

_HANDSHAKE = 0x16
"""The first byte of TLS (RFC 8446 section 5.1)."""

_HTTP_2 = b"PRI * HTTP/2"
"""The preface of HTTP/2 without TLS (RFC 9113 section 3.4), as gRPC uses it; it is tunnelled."""

_METHOD = rb"%s{1,64}" % TCHAR.encode("ascii")
_REQUEST = re.compile(rb"[A-Z]{3,20} [ -~]|%s (?:/|\*|[Hh][Tt][Tt][Pp][Ss]?:)" % _METHOD)
"""A method of usual form, or any method (RFC 9110 section 9.1) and the beginning of a target.

Other protocols may begin with a token, too: ``SSH-2.0-OpenSSH_9.2 Debian``.
"""

_MAYBE_REQUEST = re.compile(
    rb"%s?(?: (?:[Hh](?:[Tt](?:[Tt](?:[Pp][Ss]?)?)?)?)?)?" % _METHOD.replace(b"{1,", b"{0,")
)

HTTP_2_ONLY = "its client speaks HTTP/2 only"
SERVER_HTTP_2_ONLY = "its server speaks HTTP/2 only"
SERVER_ASKS_FOR_CERTIFICATE = "its server asks for a client certificate"
"""Why a tunnel is not read."""

NOT_FOR_THE_PROXY = {
    Accepted.OTHERS: SERVER_HTTP_2_ONLY,
    Accepted.CERTIFIED: SERVER_ASKS_FOR_CERTIFICATE,
}
"""Why TLS is to reach a server that cannot speak with the proxy."""


def kind_of(data: bytes, *, is_attached: bool = False) -> str | None:
    """Recognise a client's protocol by its first bytes.

    :param is_attached: whether the client is an attached process. It speaks HTTP in its tunnels,
        and its requests have headers that must not reach a server. So whatever else it sends is
        for the parser, which refuses it.
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
    if is_attached or _REQUEST.match(data):
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
    hosts of ``--tunnel``, and TLS where the proxy does not open it or the client does not offer
    HTTP/1.1, the only protocol in which the proxy could answer. If the client offers HTTP/2, too,
    a server is asked whether it accepts HTTP/1.1, unless a test might mock it: TLS goes through a
    tunnel to a server that does not, or one that is known to ask for a client certificate.

    :param client: the transport of the client.
    :param authority: the host and port of CONNECT.
    :param headers: the header of CONNECT.
    :param inside: called if the client speaks HTTP.
    :param is_attached: see :func:`kind_of`.
    :param why: why the client wants its TLS to reach the server; empty if it does not.
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
        is_attached: bool = False,
        why: str = "",
    ) -> None:
        self._buffer = b""
        self._client = client
        self._resources = resources
        self._proxy_client = proxy_client
        self._authority = authority
        self._server = server_name(authority)
        self._inside = inside
        self._is_attached = is_attached
        self._why = why
        self._watched = False
        self._is_asking = False
        self._request = tunnel_request(self._server, headers)
        self._tunnel = Tunnel(
            client,
            resources,
            authority,
            entry=lambda: (
                None
                if proxy_client is None
                else TunnelRecord(proxy_client, self._server, headers, self._why)
            ),
            server_spoke=self._go_blind,
        )
        self._timer: IDelayedCall | None = None
        if why:
            self._leave_alone()
        elif resources.settings.is_tunnelled(authority):
            self._tunnel.carry_blindly(b"")
        else:
            self._timer = resources.reactor.callLater(SILENCE_SECONDS, self._silent)

    def data_received(self, data: bytes) -> None:
        if self._tunnel.blind:
            self._tunnel.from_client(data)
            return
        self._buffer += data
        if self._is_asking:
            return
        kind = kind_of(self._buffer, is_attached=self._is_attached)
        if kind == "blind":
            self._go_blind(HTTP_2_ONLY if self._buffer.startswith(_HTTP_2) else "")
        elif kind == "tls":
            self._begin_tls()
        elif kind is not None:
            self._go_inside(tls=False)

    def half_closed(self) -> None:
        """Handle the client's FIN; without a byte, or amid its ClientHello, it asked for nothing.

        Such a client gave up, so that its tunnel is neither recorded nor refused.
        """
        if not self._tunnel.blind and self._may_be_read():
            self._is_asking = False
            self._stop_timer()
            self._tunnel.client_lost()
            self._client.loseConnection()
            return
        if not self._tunnel.blind:
            self._go_blind()
        self._tunnel.client_done()

    def lost(self) -> None:
        """Handle the loss of the client's connection."""
        self._is_asking = False
        self._stop_timer()
        self._tunnel.client_lost()
        if self._watched and self._proxy_client is not None:
            self._proxy_client.gateway.tunnels.unwatch(self._end)

    def _leave_alone(self) -> None:
        """Carry TLS that the client wants to reach the server, until a test might mock it."""
        self._tell()
        self._watch()
        self._tunnel.carry_blindly(b"")

    def _tell(self) -> None:
        for_good = self._why == HTTP_2_ONLY or self._resources.settings.is_tunnelled(
            self._authority
        )
        self._resources.tell_unread(self._server, self._why, for_good=for_good)

    def _watch(self) -> None:
        client = self._proxy_client
        if client is not None:
            self._watched = True
            client.gateway.tunnels.watch(client, self._request.url, self._end)

    def _end(self) -> None:
        """Close the client's connection: its next request has to come by another tunnel.

        The FIN is sent now, and not when the reactor comes to it, because the test may call its
        application meanwhile.
        """
        self._tunnel.client_lost()
        if hasattr(self._client, "getHandle"):
            with suppress(OSError):
                self._client.getHandle().shutdown(socket.SHUT_WR)
        self._client.loseConnection()

    def _begin_tls(self) -> None:
        """Open TLS, or leave it alone, once the client's protocols are known."""
        if not self._resources.settings.opens_tls:
            self._go_blind()
            return
        offered = offered_protocols(self._buffer)
        if offered is None:
            return
        if offered and HTTP_1_1 not in offered:
            self._go_blind(HTTP_2_ONLY)
        elif self._is_attached or self._may_be_mocked():
            self._go_inside(tls=True)
        elif HTTP_2 in offered:
            self._ask_server()
        else:
            self._choose(self._resources.protocols.known(self._authority))

    def _ask_server(self) -> None:
        """Open TLS if the server accepts HTTP/1.1; its answer may take some time.

        An attached process has been given the authority already, so its TLS cannot reach the server
        any more. It says in its CONNECT what it offers.
        """
        protocols = self._resources.protocols
        accepted = protocols.known(self._authority)
        if accepted is None:
            self._stop_timer()
            self._is_asking = True
            asking = protocols.ask(self._authority, self._client.getHost())
            asking.addCallback(self._server_answered)
        else:
            self._choose(accepted)

    def _server_answered(self, accepted: Accepted) -> None:
        if self._is_asking:
            self._is_asking = False
            self._choose(accepted)

    def _choose(self, accepted: Accepted | None) -> None:
        why = None if accepted is None else NOT_FOR_THE_PROXY.get(accepted)
        if why is None or self._may_be_mocked():
            self._go_inside(tls=True)
            return
        self._watch()
        self._go_blind(why)

    def _may_be_mocked(self) -> bool:
        client = self._proxy_client
        if client is None:
            return False
        return client.gateway.tunnels.may_be_mocked(client, self._request.url)

    def _go_inside(self, *, tls: bool) -> None:
        self._stop_timer()
        self._tunnel.client_lost()
        self._inside(self._buffer, tls=tls)

    def _may_be_read(self) -> bool:
        """Return whether the client has sent nothing but, perhaps, the beginning of TLS."""
        is_tls = kind_of(self._buffer) == "tls" and self._resources.settings.opens_tls
        return not self._buffer or is_tls

    def _silent(self) -> None:
        self._timer = None
        # Clients of attached processes speak first.
        if self._is_attached:
            return
        if not self._buffer:
            if not self._would_be_refused():
                self._tunnel.open()
        elif not self._may_be_read():
            self._go_blind()

    def _would_be_refused(self) -> bool:
        client = self._proxy_client
        return client is not None and client.gateway.tunnels.would_refuse(client, self._request)

    def _go_blind(self, why: str = "") -> None:
        self._stop_timer()
        self._why = why
        buffer, self._buffer = self._buffer, b""
        if why:
            self._tell()
        if refusal(self._proxy_client, self._request) is None:
            self._tunnel.carry_blindly(buffer)
        else:
            self._tunnel.client_lost()
            self._client.abortConnection()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
