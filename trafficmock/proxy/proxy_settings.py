"""The settings of the forward proxy, and what all its connections share."""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from attrs import define, field, frozen

from trafficmock.proxy.hosts_under_test import is_under_test
from trafficmock.proxy.http1.context_headers import (
    ids_in,
    may_carry,
    with_other_id,
    without_context,
)
from trafficmock.proxy.upstream.server_verification import matches_any
from trafficmock.wire.limits import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.proxy.http1.heads import Pairs
    from trafficmock.proxy.proxy_clients import ProxyClients
    from trafficmock.proxy.request_target import Origin
    from trafficmock.proxy.upstream.connection_pool import ConnectionPool
    from trafficmock.proxy.upstream.dialer import Dialer


class Certificates(Protocol):
    """Gives what a server needs for TLS, for a proxy that stands in for it."""

    def context_for(self, host: str) -> Any:
        """Give the context for a host."""

    def ca_pem(self) -> bytes:
        """Give the certificate of the authority that signs them, in PEM."""


@frozen(kw_only=True)
class ProxySettings:
    """Options of the forward proxy; times in seconds, sizes in bytes.

    :param token: what clients must give as their password, ``None`` for none.
    :param max_header_bytes: for the head of a request or an answer.
    :param response_seconds: for a server to begin its answer; 0 for ever.
    :param abort_hold_seconds: how long a request that a test lets time out is held.
    :param idle_seconds: how long a client may be silent between or in requests.
    :param tunnels: globs of hosts whose TLS is not opened.
    :param opens_tls: whether TLS of other hosts behind CONNECT is opened.
    :param max_frame_bytes: of the largest message of a WebSocket.
    :param own_hosts: globs of hosts under test, see :func:`.hosts_under_test.is_under_test`.
    :param records_passthrough: whether the history keeps what no test decides about.
    """

    token: str | None = None
    max_header_bytes: int = 65536
    response_seconds: float = 120.0
    abort_hold_seconds: float = 30.0
    idle_seconds: float = 60.0
    tunnels: tuple[str, ...] = ()
    opens_tls: bool = True
    max_frame_bytes: int = MAX_MESSAGE_BYTES
    own_hosts: tuple[str, ...] = ()
    records_passthrough: bool = True

    def is_tunnelled(self, host: str) -> bool:
        """Tell whether TLS with a host is not opened."""
        return matches_any(host, self.tunnels)


@define(eq=False, kw_only=True)
class ProxyContext:
    """What the connections of the forward proxy have in common.

    :param stamp: gives the header of a request to an origin its context, or takes it out.
    """

    settings: ProxySettings
    reactor: Any
    proxy_clients: ProxyClients
    pool: ConnectionPool
    dialer: Dialer
    certificates: Certificates
    stamp: Callable[[Origin, Pairs], Pairs] | None = None
    alias_key: bytes = field(factory=lambda: secrets.token_bytes(32), init=False)

    @property
    def explains_failures(self) -> bool:
        """Tell whether clients are told by an answer that a server was not reached.

        Pages and their tests have to see the connection fail, as without a proxy.
        """
        return self.stamp is None

    def outgoing(self, origin: Origin, pairs: Pairs) -> Pairs:
        """Take the context of a test out of what leaves for a host that is not under test."""
        if self.stamp is not None:
            return self.stamp(origin, pairs)
        if not may_carry(pairs) or is_under_test(origin, self.settings.own_hosts):
            return pairs
        return self.concealed(pairs)

    def concealed(self, pairs: Pairs) -> Pairs:
        """Take the context out of header lines, and its id wherever else it stands in them.

        It may be the id of a trace, which an application writes into headers of several names.
        """
        plain = without_context(pairs)
        for each in ids_in(pairs):
            if self.proxy_clients.gateway.is_reserved(each.decode("ascii")):
                plain = with_other_id(plain, each, self.alias(each))
        return plain

    def revealed(self, pairs: Pairs, context_id: str) -> Pairs:
        """Put the id back into header lines that a test made of those it saw."""
        context = context_id.encode("ascii")
        return with_other_id(pairs, self.alias(context), context)

    def alias(self, context: bytes) -> bytes:
        """Give the id that replaces a context for others: always the same, and not revealing."""
        return blake2b(context, digest_size=16, key=self.alias_key).hexdigest().encode("ascii")

    def aim(self, origin: Origin, path: bytes, pairs: Pairs) -> tuple[bytes, Pairs]:
        """Give the request target and the header for a server, or for the proxy before it."""
        pairs = self.outgoing(origin, pairs)
        proxy = self.dialer.http_proxy(origin)
        if proxy is None:
            return path, pairs
        host = origin.authority.encode("ascii")
        target = b"http://%s%s" % (host, b"" if path == b"*" else path)
        if proxy.credentials is None:
            return target, pairs
        return target, [*pairs, (b"Proxy-Authorization", proxy.credentials)]
