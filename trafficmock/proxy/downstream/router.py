"""Sends each request of a client to a server, into a tunnel, or to the service itself."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from OpenSSL import SSL
from twisted.internet.interfaces import ISSLTransport
from twisted.logger import Logger

from trafficmock.errors import LocalError
from trafficmock.http.hosts import Authority, parse_authority
from trafficmock.http.log_safety import one_line
from trafficmock.http.this_service import ThisService
from trafficmock.proxy import request_target
from trafficmock.proxy.downstream.client_connection import ClientConnection
from trafficmock.proxy.downstream.connect_sniffing import (
    HTTP_2_ONLY,
    NOT_FOR_THE_PROXY,
    SERVER_ASKS_FOR_CERTIFICATE,
    SERVER_HTTP_2_ONLY,
    ConnectSniffer,
    HttpContinuation,
)
from trafficmock.proxy.downstream.proxy_credentials import client_id
from trafficmock.proxy.downstream.roots_upload import RootsUpload
from trafficmock.proxy.downstream.waiting_connect import WaitingConnect
from trafficmock.proxy.http1 import attached_clients, framing
from trafficmock.proxy.http1.forwarded_headers import end_to_end
from trafficmock.proxy.http1.heads import BadMessageError, RequestHead
from trafficmock.proxy.http1.server_demands import (
    ServerDemands,
    reason_to_leave_alone,
    server_demands,
)
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.request_target import Origin, Target
from trafficmock.proxy.transfer.body_capture import header_map
from trafficmock.proxy.transfer.proxied_request import ProxiedRequest
from trafficmock.proxy.tunnel_record import TunnelRecord, refusal, server_name, tunnel_request
from trafficmock.proxy.upstream.server_protocols import Accepted
from trafficmock.proxy.upstream_errors import UpstreamError, decision_status
from trafficmock.proxy.websocket.opening_handshake import is_opening, read_opening
from trafficmock.proxy.websocket.relayed_websocket import RelayedWebSocket
from trafficmock.proxy.websocket.websocket_session import WebSocketSession
from trafficmock.wire.outbound import UNMATCHED

_NOTED = b"HTTP/1.1 200 Noted\r\nConnection: close\r\n\r\n"
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n%s\r\n"


class AbsoluteFormRouter:
    """Routes requests in absolute form, and CONNECT (RFC 9112 section 3.2).

    :param resources: the objects that all connections of the proxy share.
    :param this_service: tells which requests are for the service itself.
    :param leave: hands a connection, and the bytes read from it, to the service itself.
    """

    log = Logger()

    def __init__(
        self,
        resources: ProxyResources,
        *,
        this_service: ThisService,
        leave: Callable[[ClientConnection, bytes], None],
    ) -> None:
        self._resources = resources
        self._this_service = this_service
        self._leave = leave
        self._elsewhere: Origin | None = None
        self._credentials: bytes | None = None
        self._proxy_client: ProxyClient | None = None

    def enter(self, connection: ClientConnection, head: RequestHead, raw: bytes) -> None:
        """Route a request to a server, a tunnel, or this service."""
        check_host(head)
        if head.method == b"CONNECT":
            self._connect(connection, head)
            return
        aim = request_target.absolute(head.target, head.method)
        origin = aim.origin
        if origin.scheme == "http" and origin is not self._elsewhere:
            if self._this_service.is_at(origin.host, origin.port, connection.local()):
                connection.gone()
                self._leave(connection, raw)
                return
            self._elsewhere = origin
        begin(connection, self._identify(connection, head), self._resources, head, aim)

    def lost(self, reason: BaseException | None) -> None:
        """Do nothing: the connection cancels its request itself."""

    def _aim(self, connection: ClientConnection, head: RequestHead) -> Authority:
        """Read the target of CONNECT.

        :raises BadMessageError: if it is malformed, has a body, or is this service.
        """
        authority = request_target.connect_authority(head.target)
        if framing.of_request(head) is not framing.NONE:
            raise BadMessageError("CONNECT has no body.")
        if self._this_service.is_at(authority.host, authority.port or 0, connection.local()):
            raise BadMessageError(
                "This is the proxy itself: leave it out of what goes through a proxy.",
                status=508,
                code="loop_detected",
            )
        return authority

    def _connect(self, connection: ClientConnection, head: RequestHead) -> None:
        proxy_client = self._identify(connection, head)
        if attached_clients.sends_roots(head):
            keep = self._resources.dialer.trust.roots.add
            connection.succeed(RootsUpload(head, keep, connection.end))
            return
        if attached_clients.asks_for_tests(head):
            connection.end(_answer(proxy_client))
            return
        authority = self._aim(connection, head)
        notice = attached_clients.notice(head)
        if notice is not None:
            if proxy_client is not None:
                proxy_client.send(notice)
            connection.end(_NOTED)
            return
        if self._has_to_ask(proxy_client, authority, head):
            self._ask_server(connection, head, authority)
        else:
            self._open(connection, head, authority)

    def _ask_server(
        self, connection: ClientConnection, head: RequestHead, authority: Authority
    ) -> None:
        """Answer a CONNECT once the server has said whether it accepts HTTP/1.1."""

        def answer(unread: bytes) -> None:
            try:
                self._open(connection, head, authority, unread)
            except BadMessageError as error:
                connection.refuse(error)

        asking = self._resources.protocols.ask(authority, connection.local())
        close = connection.transport.loseConnection
        connection.succeed(WaitingConnect(asking, answer, close))

    def _open(
        self,
        connection: ClientConnection,
        head: RequestHead,
        authority: Authority,
        unread: bytes = b"",
    ) -> None:
        """Answer a CONNECT, and read what follows.

        :param unread: the bytes behind it that are not in the connection any more.
        :raises BadMessageError: if it is refused.
        """
        proxy_client = self._identify(connection, head)
        why = self._why_alone(proxy_client, authority, head)
        left_alone = bool(why) or self._resources.settings.is_tunnelled(authority)
        if ISSLTransport.providedBy(connection.transport) and not left_alone:
            raise BadMessageError(
                "CONNECT over TLS is not supported: what is within could not be read. Use the "
                "proxy by an http:// URL (a tcp endpoint), or leave the host alone (--tunnel).",
                status=501,
                code="tls_within_tls",
            )
        headers, _ = header_map(self._resources.concealed(end_to_end(head)))
        if left_alone:
            refused = refusal(proxy_client, tunnel_request(server_name(authority), headers))
            if refused is not None:
                raise BadMessageError(refused, status=decision_status(UNMATCHED), code=UNMATCHED)
        demands = server_demands(head)
        lines = self._lines(head, proxy_client, demands, left_alone=left_alone)
        connection.write(_ESTABLISHED % lines)
        behind = ConnectSniffer(
            connection.transport,
            self._resources,
            proxy_client,
            authority=authority,
            headers=headers,
            inside=self._inside(connection, proxy_client, authority, headers, head),
            is_attached=attached_clients.opens_for_agent(head),
            why=why,
        )
        connection.succeed(behind)
        if unread:
            behind.data_received(unread)

    def _inside(
        self,
        connection: ClientConnection,
        proxy_client: ProxyClient | None,
        authority: Authority,
        headers: dict[str, str],
        head: RequestHead,
    ) -> HttpContinuation:
        """Make the function that reads requests within a tunnel.

        :param head: the head of its CONNECT.
        """
        demands, reason = server_demands(head), reason_to_leave_alone(head)

        def inside(data: bytes, *, tls: bool) -> None:
            wants_alone = reason not in {"", SERVER_HTTP_2_ONLY}
            refuses = self._resources.protocols.known(authority) in NOT_FOR_THE_PROXY
            scheme, port = "https" if tls else "http", authority.port or 0
            origin = Origin(scheme, authority.host, port, demands if tls else None)
            router = TunnelledRequestRouter(
                self._resources,
                proxy_client,
                origin,
                headers,
                self._connect,
                keeps=not (wants_alone or refuses),
            )
            try:
                context = self._resources.certificates.context_for(authority.host) if tls else None
            except (LocalError, ValueError) as error:
                router.failed(f"There is no certificate for {authority.host!r}: {error}.")
                self.log.warn("{host}: {error}", host=one_line(authority.host), error=error)
                connection.transport.abortConnection()
            else:
                connection.go_on(data, router, origin, context=context)

        return inside

    def _lines(
        self,
        head: RequestHead,
        proxy_client: ProxyClient | None,
        demands: ServerDemands | None,
        *,
        left_alone: bool,
    ) -> bytes:
        """Write the header lines of the answer to CONNECT, which an attached process reads."""
        lines = self._authority_line(head, left_alone=left_alone)
        if proxy_client is not None and proxy_client.wants_origins:
            lines += attached_clients.ORIGINS_LINE
        roots = "" if demands is None else demands.roots
        if roots and self._resources.dialer.trust.roots.get(roots) is None:
            lines += attached_clients.roots_line(roots)
        return lines

    def _why_alone(
        self, proxy_client: ProxyClient | None, authority: Authority, head: RequestHead
    ) -> str:
        """Return why the TLS of a tunnel is to reach the server; empty if it is to be read.

        The process wants it where its library has, for example, a client certificate; the server
        may have asked for one of which the process does not tell. While a test might mock the
        server, the tunnel is read all the same, unless the proxy could not answer.
        """
        if proxy_client is None or not attached_clients.opens_for_agent(head):
            return ""
        why = reason_to_leave_alone(head)
        if why == HTTP_2_ONLY:
            return why
        known = self._resources.protocols.known(authority)
        if known is Accepted.CERTIFIED and why in {"", SERVER_HTTP_2_ONLY}:
            why = SERVER_ASKS_FOR_CERTIFICATE
        elif why == SERVER_HTTP_2_ONLY and known is not Accepted.OTHERS:
            why = ""
        return "" if _may_be_mocked(proxy_client, authority) else why

    def _has_to_ask(
        self, proxy_client: ProxyClient | None, authority: Authority, head: RequestHead
    ) -> bool:
        """Return whether an attached process offers HTTP/2, and the server may accept only that."""
        return (
            reason_to_leave_alone(head) == SERVER_HTTP_2_ONLY
            and proxy_client is not None
            and attached_clients.opens_for_agent(head)
            and not self._resources.settings.is_tunnelled(authority)
            and self._resources.settings.opens_tls
            and self._resources.protocols.known(authority) is None
            and not _may_be_mocked(proxy_client, authority)
        )

    def _authority_line(self, head: RequestHead, *, left_alone: bool) -> bytes:
        """Write the authority's certificate, which an attached process gets."""
        if left_alone or not attached_clients.opens_for_agent(head):
            return b""
        try:
            authority = self._resources.certificates.ca_pem()
        except LocalError as error:
            # Without a certificate TLS fails as well, and the history shows that error.
            self.log.warn("{error}", error=error)
            return b""
        return attached_clients.authority_line(authority)

    def _identify(self, connection: ClientConnection, head: RequestHead) -> ProxyClient | None:
        """Find the proxy client of a request by its credentials; a browser proxy has none."""
        credentials = head.fields.get(b"proxy-authorization")
        if self._proxy_client is None or credentials != self._credentials:
            name = client_id(credentials, self._resources.settings.token)
            clients = self._resources.proxy_clients
            if clients is None:
                return None
            self._proxy_client = clients.enter(name, attached_clients.attached_process(head))
            self._credentials = credentials
            connection.belongs_to(self._proxy_client)
        return self._proxy_client


def _may_be_mocked(proxy_client: ProxyClient, authority: Authority) -> bool:
    """Return whether a route may match a URL of a server, or strict mode would refuse it."""
    url = f"https://{server_name(authority)}/"
    return proxy_client.gateway.tunnels.may_be_mocked(proxy_client, url)


def _answer(proxy_client: ProxyClient | None) -> bytes:
    """Write the answer to the question whether tests with contexts run."""
    if proxy_client is None or not proxy_client.wants_origins:
        return _NOTED
    return _NOTED.replace(b"\r\n\r\n", b"\r\n%s\r\n" % attached_clients.ORIGINS_LINE)


class TunnelledRequestRouter:
    """Routes requests behind CONNECT, which all go to one server.

    :param origin: the server.
    :param headers: the header of CONNECT.
    :param connect: handles another CONNECT of an attached process.
    :param keeps: whether the client's connection stays open after a request. If its TLS is to reach
        the server when no test mocks that, the next request has to come by another tunnel.
    """

    def __init__(
        self,
        resources: ProxyResources,
        proxy_client: ProxyClient | None,
        origin: Origin,
        headers: dict[str, str],
        connect: Callable[[ClientConnection, RequestHead], None],
        *,
        keeps: bool = True,
    ) -> None:
        self._connect = connect
        self._keeps = keeps
        self._resources = resources
        self._proxy_client = proxy_client
        self._origin = origin
        self._headers = headers
        self._used = False

    def enter(self, connection: ClientConnection, head: RequestHead, raw: bytes) -> None:  # noqa: ARG002 - the protocol's
        """Send a request to the server of the tunnel."""
        check_host(head)
        if head.method == b"CONNECT" and not self._used and self._is_same(head):
            self._connect(connection, head)
            return
        self._used = True
        aim = self._aim(head)
        begin(connection, self._proxy_client, self._resources, head, aim, keeps=self._keeps)

    def lost(self, reason: BaseException | None) -> None:
        """Record a failed TLS handshake of the client as one row in the history."""
        if self._used or not isinstance(reason, SSL.Error):
            return
        detail = "; ".join(str(part[-1]) for part in (reason.args[0] if reason.args else ()))
        text = (
            f"The client broke off TLS with {self._origin.host}"
            f"{f' ({detail})' if detail else ''}. Does it trust the certificate authority of "
            "this proxy? `trafficmock ca hints` says how; --tunnel leaves a host's TLS alone."
        )
        self.failed(text)

    def failed(self, text: str) -> None:
        """Record in the history that TLS with the client failed, with ``text`` as its error."""
        if self._proxy_client is None:
            return
        entry = TunnelRecord(
            self._proxy_client, f"{self._origin.host}:{self._origin.port}", self._headers
        )
        entry.ended(UpstreamError(text, code="client_tls", errno="ECLIENTTLS"))

    def _is_same(self, head: RequestHead) -> bool:
        """Return whether an attached process opens the same tunnel anew, with demands."""
        aim, origin = request_target.connect_authority(head.target), self._origin
        return attached_clients.opens_for_agent(head) and (aim.host, aim.port) == (
            origin.host,
            origin.port,
        )

    def _aim(self, head: RequestHead) -> Target:
        if head.target.startswith(b"/"):
            return request_target.on(self._origin, head.target)
        if head.target == b"*" and head.method == b"OPTIONS":
            return request_target.absolute(str(self._origin).encode("ascii"), b"OPTIONS")
        aim = request_target.absolute(head.target, head.method)
        if aim.origin != self._origin:
            raise BadMessageError(
                "A request within a tunnel is for another server than the tunnel."
            )
        return aim


def begin(
    connection: ClientConnection,
    proxy_client: ProxyClient | None,
    resources: ProxyResources,
    head: RequestHead,
    aim: Target,
    *,
    keeps: bool = True,
) -> None:
    """Begin a request or a WebSocket.

    :param proxy_client: its agent; ``None`` in a browser proxy, where it passes through.
    :param aim: the server and path of the request.
    :param keeps: whether the connection may stay open after the request.
    :raises BadMessageError: if the framing of the body or the WebSocket handshake is malformed.
    """
    if b"upgrade" in head.fields and is_opening(head):
        if proxy_client is None:
            read_opening(head)
            relayed = RelayedWebSocket(
                str(uuid.uuid4()), connection.transport, None, resources, head=head, target=aim
            )
            connection.succeed(relayed)
            relayed.start()
            return
        session = WebSocketSession(
            connection.transport,
            proxy_client,
            resources,
            head=head,
            target=aim,
            hand_over=connection.succeed,
        )
        connection.succeed(session)
        session.announce()
        return
    body = framing.of_request(head)
    request = ProxiedRequest(connection, proxy_client, resources, head=head, target=aim, body=body)
    request.keep = request.keep and keeps
    connection.begin(request)


def check_host(head: RequestHead) -> None:
    """Check that a request of HTTP/1.1 has one valid ``Host`` (RFC 9112 section 3.2).

    :raises BadMessageError: if it has not.
    """
    host = head.fields.get(b"host")
    if host is None and head.minor > 0:
        raise BadMessageError("HTTP/1.1 wants exactly one Host header.")
    if host and parse_authority(host.decode("latin-1")) is None:
        raise BadMessageError("HTTP/1.1 wants exactly one Host header, of the form host[:port].")
