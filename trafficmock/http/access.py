"""Decides which requests are let in, by ``Host``, ``Origin`` and address, without I/O.

The service keeps the bodies of an application's traffic, so a web page must not
reach it by DNS rebinding (``Host``), by a WebSocket (``Origin``) or by reading
REST answers (CORS), and other machines must not read it unless they are let in.
Tokens are the coordinator's business, not the guard's.
"""

from collections.abc import Iterable

from attrs import field, frozen

from trafficmock.http import cors
from trafficmock.http.hosts import (
    WILDCARDS,
    Authority,
    is_loopback,
    parse_authority,
    parse_origin,
    same_address,
)
from trafficmock.http.responses import RestError

_SHOWN = 80


def _hosts(values: Iterable[str]) -> frozenset[str]:
    """Bring names and addresses into the form of :class:`Authority`; ports do not count."""
    found = set()
    for value in values:
        if not value or value in WILDCARDS:
            continue
        authority = parse_authority(value) or parse_authority(f"[{value}]")
        found.add(authority.host if authority else value.lower())
    return frozenset(found)


def _origins(values: Iterable[str]) -> frozenset[str]:
    return frozenset(value.lower().rstrip("/") for value in values)


@frozen(kw_only=True)
class AccessPolicy:
    """Who may use a service: decides about ``Host``, ``Origin`` and addresses, without I/O.

    :param listening: the hosts that the service was told to listen on (``--host``).
        Addresses that stand for all interfaces name nobody and are left out.
    :param allowed_hosts: further names in ``Host`` (``--allowed-host``).
    :param cors_origins: further origins (``--cors-origin``), ``*`` for all.
    :param open_history: whether other machines may read REST (``--open-history``).
    """

    listening: frozenset[str] = field(default=(), converter=_hosts)
    allowed_hosts: frozenset[str] = field(default=(), converter=_hosts)
    cors_origins: frozenset[str] = field(default=(), converter=_origins)
    open_history: bool = False

    def is_this_service(self, host: str, bound_host: str | None) -> bool:
        """Tell whether ``host`` is a name or address under which the service may be called.

        :param host: as in :class:`~trafficmock.http.hosts.Authority`.
        :param bound_host: the local address of the connection, ``None`` for a UNIX socket.
            A page can rebind a name to it, but cannot put the address into ``Host``.
        """
        return (
            is_loopback(host)
            or host in self.listening
            or host in self.allowed_hosts
            or (bound_host is not None and same_address(host, bound_host))
        )

    def host_refusal(self, host_header: str | None, bound_host: str | None) -> RestError | None:
        """Decide about the ``Host`` of a request.

        A missing header is let in: only HTTP/1.0 may leave it out, and browsers,
        which this rule is about, always send it.

        :param host_header: its value, ``None`` when there is none.
        :param bound_host: see :meth:`is_this_service`.
        :returns: the error to answer with, ``None`` when the request may go on.
        """
        if host_header is None:
            return None
        authority = parse_authority(host_header)
        if authority is None:
            return RestError(403, "host_not_allowed", "The Host header is not a host[:port].")
        if self.is_this_service(authority.host, bound_host):
            return None
        shown = authority.host[:_SHOWN]
        return RestError(
            403,
            "host_not_allowed",
            f"This service is not called {shown!r}. Call it by a loopback name or by the host "
            f"it listens on, or start it with --allowed-host {shown}.",
        )

    def websocket_origin_refusal(self, origin: str | None, host: str | None) -> RestError | None:
        """Decide about the ``Origin`` of a WebSocket handshake.

        :param origin: the header, ``None`` when there is none (no browser).
        :param host: the ``Host`` header, which :meth:`host_refusal` has let in: a page
            of the very same host and port may connect.
        :returns: the error to answer with, ``None`` when the handshake may go on.
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
        """Decide whether a peer may read the history and the list of connections.

        :param peer_host: its address, ``None`` for a UNIX socket, which is local.
        :param bound_host: the local address of the connection; on a loopback address
            every peer is local.
        :returns: the error to answer with, ``None`` when it may.
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

    def cors_headers(self, origin: str | None) -> cors.Headers:
        """Give the CORS headers of an answer on an API path; see :mod:`trafficmock.http.cors`."""
        return cors.cors_headers(origin, self.cors_origins)


def _with_port(authority: Authority | None) -> Authority | None:
    """Fill in the port that plain HTTP leaves out."""
    if authority is None or authority.port is not None:
        return authority
    return Authority(authority.host, 80)
