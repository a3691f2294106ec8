"""The access policy of the service: rules for ``Host``, ``Origin`` and peer addresses, without I/O.

The service keeps the bodies of an application's traffic. A web page must therefore not
reach it by DNS rebinding (``Host``), by a WebSocket (``Origin``) or by reading
REST responses (CORS), and other machines must not read it unless an option allows it.
Tokens are not checked here but by the coordinator, in ``hello``.
"""

from collections.abc import Iterable

from attrs import field, frozen

from trafficmock.http import cors
from trafficmock.http.hosts import Authority, is_loopback, parse_authority, parse_origin
from trafficmock.http.responses import RestError
from trafficmock.http.this_service import ThisService

_SHOWN = 80


def _origins(values: Iterable[str]) -> frozenset[str]:
    return frozenset(value.lower().rstrip("/") for value in values)


@frozen(kw_only=True)
class AccessPolicy:
    """The rules by which requests to a service are refused.

    :param service: the names that ``Host`` may have.
    :param cors_origins: further allowed origins (``--cors-origin``), ``*`` for all.
    :param open_history: whether other machines may read REST (``--open-history``).
    """

    service: ThisService = field(factory=ThisService)
    cors_origins: frozenset[str] = field(default=(), converter=_origins)
    open_history: bool = False

    def host_refusal(self, host_header: str | None, bound_host: str | None) -> RestError | None:
        """Check the ``Host`` of a request.

        A request without the header is allowed: only HTTP/1.0 may omit it, and browsers,
        which the rule is for, always send it.

        :param host_header: its value, ``None`` without the header.
        :param bound_host: see :meth:`.ThisService.is_named`.
        :returns: the error to respond with, ``None`` for an allowed request.
        """
        if host_header is None:
            return None
        authority = parse_authority(host_header)
        if authority is None:
            return RestError(403, "host_not_allowed", "The Host header is not a host[:port].")
        if self.service.is_named(authority.host, bound_host):
            return None
        shown = authority.host[:_SHOWN]
        return RestError(
            403,
            "host_not_allowed",
            f"This service is not called {shown!r}. Call it by a loopback name or by the host "
            f"it listens on, or start it with --allowed-host {shown}.",
        )

    def websocket_origin_refusal(self, origin: str | None, host: str | None) -> RestError | None:
        """Check the ``Origin`` of a WebSocket handshake.

        :param origin: the header, ``None`` without it (the client is no browser).
        :param host: the ``Host`` header, which :meth:`host_refusal` has allowed: a page
            of the same host and port may connect.
        :returns: the error to respond with, ``None`` for an allowed handshake.
        """
        if origin is None or cors.origin_allowed(origin, self.cors_origins):
            return None
        page = parse_origin(origin)
        if page is not None and host is not None and page == _with_port(parse_authority(host)):
            return None
        return RestError(
            403,
            "origin_not_allowed",
            "Pages of this origin may not connect. Use a page on a loopback host, or start "
            "the service with --cors-origin and the origin of the page.",
        )

    def history_refusal(self, peer_host: str | None, bound_host: str | None) -> RestError | None:
        """Check that a peer may read the history and the list of connections.

        :param peer_host: its address, ``None`` for a UNIX socket, which is local.
        :param bound_host: the local address of the connection; on a loopback address
            every peer is local.
        :returns: the error to respond with, ``None`` for an allowed peer.
        """
        local = peer_host is None or is_loopback(peer_host)
        if local or self.open_history or (bound_host is not None and is_loopback(bound_host)):
            return None
        return RestError(
            403,
            "history_not_open",
            "Only this machine may read the recorded traffic. Ask from here, or start the "
            "service with --open-history.",
        )

    def cors_headers(self, origin: str | None) -> cors.CorsHeaders:
        """Return the CORS headers of a response on an API path; see :mod:`trafficmock.http.cors`.

        :param origin: the ``Origin`` header, ``None`` without it.
        """
        return cors.cors_headers(origin, self.cors_origins)


def _with_port(authority: Authority | None) -> Authority | None:
    """Add port 80 to an authority without a port."""
    if authority is None or authority.port is not None:
        return authority
    return Authority(authority.host, 80)
