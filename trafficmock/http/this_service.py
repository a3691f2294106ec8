"""Decides whether a request, or a connection to a server, is for this service itself.

The first bytes of a connection decide who reads it (``proxy/downstream/protocol_sniffing``): with
CONNECT or a target in absolute form the forward proxy, else the service's own HTTP server. A client
of the forward proxy may name the service, too. So three places ask:

* the router of the forward proxy (``proxy/downstream/router``), about each target with ``http:`` or
  ``ws:`` and each CONNECT: :meth:`ThisService.is_at`. The service's own HTTP server gets the
  connection of the former; CONNECT is refused with 508;
* the root resource of that server (``server/root_resource``), about each target that is no path:
  :meth:`ThisService.own_path`. What is for other servers, and CONNECT, is refused with 501,
  other targets with 400;
* the dialer (``proxy/upstream/dialer``), about each connection to a server, because another name
  may resolve to the service's address: :func:`leads_back`. The request is refused with 508.

``access`` asks by :meth:`ThisService.is_named` whether ``Host`` is a name of the service.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from trafficmock.http.hosts import WILDCARDS, is_loopback, parse_authority, same_address

_ABSOLUTE = re.compile(
    r"(?:http|ws)://(?:[^/?#@]*@)?(?P<authority>[^/?#@]+)(?P<path>/[^?]*)?(?:\?.*)?", re.IGNORECASE
)
_HTTP_PORT = 80


def _hosts(values: Iterable[str]) -> frozenset[str]:
    """Normalise names and addresses to the ``host`` of :class:`.Authority`; ports are dropped."""
    found = set()
    for value in values:
        if not value or value in WILDCARDS:
            continue
        authority = parse_authority(value) or parse_authority(f"[{value}]")
        found.add(authority.host if authority else value.lower())
    return frozenset(found)


@frozen
class ThisService:
    """The names of this service.

    :param listening: the hosts that it listens on (``--host``). The addresses of all interfaces
        (``0.0.0.0``, ``::``) are left out: they are no names of the service.
    :param allowed_hosts: its further names (``--allowed-host``).
    """

    listening: frozenset[str] = field(default=(), converter=_hosts)
    allowed_hosts: frozenset[str] = field(default=(), converter=_hosts)

    def is_named(self, host: str, bound_host: str | None) -> bool:
        """Return whether a host is a name or an address of this service.

        :param host: as in :class:`~trafficmock.http.hosts.Authority`.
        :param bound_host: the local address of the connection, ``None`` for a UNIX socket.
            It is safe against DNS rebinding: a page can resolve its own name to the address, but
            ``Host`` then has that name.
        """
        return (
            is_loopback(host)
            or host in self.listening
            or host in self.allowed_hosts
            or (bound_host is not None and same_address(host, bound_host))
        )

    def is_at(self, host: str, port: int, local: Any) -> bool:
        """Return whether a host and port are those of this service.

        :param local: the local address to which the client connected; that of a UNIX socket has
            neither host nor port, so nothing is the service's there.
        """
        bound_host, bound_port = getattr(local, "host", None), getattr(local, "port", None)
        return port == bound_port and self.is_named(host, bound_host)

    def own_path(self, uri: bytes, local: Any) -> tuple[str, bytes] | None:
        """Return the path of a request target in absolute form that names this service.

        :param uri: the request target as sent.
        :param local: as in :meth:`is_at`.
        :returns: the authority, which replaces ``Host`` (RFC 9112 section 3.2.2), and the path
            without the query; ``None`` for a target of another server, scheme or form.
        """
        found = _ABSOLUTE.fullmatch(uri.decode("latin-1"))
        authority = None if found is None else parse_authority(found["authority"])
        if found is None or authority is None:
            return None
        if not self.is_at(authority.host, authority.port or _HTTP_PORT, local):
            return None
        return found["authority"], (found["path"] or "/").encode("latin-1")


def leads_back(upstream: Any, local: Any, service_port: int | None, *, everywhere: bool) -> bool:
    """Return whether a connection to a server leads back to this service.

    :param upstream: the transport of the connection.
    :param local: the local address to which the client of the forward proxy connected.
    :param service_port: the port of the service, where that may be another one than the client's,
        which may be the port of a test's browser.
    :param everywhere: whether the service listens on all interfaces.
    """
    peer = upstream.getPeer()
    port = getattr(peer, "port", None)
    if port is None or port not in {getattr(local, "port", 0), service_port}:
        return False
    here = upstream.getHost().host
    hosts = {local.host, here} if everywhere else {local.host}
    # A connection to the wildcard address (0.0.0.0, ::) reaches this machine.
    return (here if peer.host in WILDCARDS else peer.host) in hosts
