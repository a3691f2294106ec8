"""The settings of the forward proxy, and the objects that all its connections share."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, ClassVar, Protocol

from attrs import Factory, define, field, frozen
from twisted.logger import Logger

from trafficmock.http.hosts import Authority
from trafficmock.http.http_limits import MAX_HEADER_BYTES
from trafficmock.http.log_safety import one_line
from trafficmock.matching.host_pattern import HostPattern, is_under_test, matches_any
from trafficmock.proxy.http1.context_headers import (
    ids_in,
    may_carry,
    with_other_id,
    without_context,
)
from trafficmock.proxy.http1.forwarded_headers import request_block
from trafficmock.proxy.http1.framing import Framing
from trafficmock.proxy.http1.heads import Pairs
from trafficmock.proxy.proxy_clients import ProxyClients
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.transfer.body_decoding import Decoders
from trafficmock.proxy.upstream.connection_pool import ConnectionPool
from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.server_protocols import ServerProtocols
from trafficmock.wire.limits import MAX_MESSAGE_BYTES, or_unlimited

_MOST_UNREAD = 1000
"""The most servers of which the log says that their tunnels are not read."""


class Certificates(Protocol):
    """Gives the certificates with which the proxy answers TLS in the place of servers."""

    def context_for(self, host: str) -> Any:
        """Return the TLS context for a host.

        :raises LocalError: if the certificate authority cannot be used.
        :raises ValueError: if no certificate can be made for the host.
        """

    def ca_pem(self) -> bytes:
        """Return the certificate of the authority that signs them, in PEM.

        :raises LocalError: if the certificate authority cannot be used.
        """


@frozen(kw_only=True)
class ProxySettings:
    """Options of the forward proxy; times in seconds, sizes in bytes.

    :param token: the password that clients must send; ``None`` for any.
    :param max_header_bytes: the longest head of a request or response.
    :param response_seconds: how long a server may take to begin its response; 0 for no limit.
    :param abort_hold_seconds: how long a request is held that a test aborts with ``timedout``.
    :param idle_seconds: how long a client may be silent between or in requests.
    :param tunnels: hosts whose traffic behind CONNECT is forwarded without parsing.
    :param opens_tls: whether TLS of other hosts behind CONNECT is opened.
    :param max_frame_bytes: the largest message of a WebSocket; 0 for no limit.
    :param own_hosts: further hosts of the system under test, see
        :func:`.host_pattern.is_under_test`.
    :param records_passthrough: whether the history keeps the messages of passed-through WebSockets.
    """

    token: str | None = field(default=None, repr=False)
    max_header_bytes: int = MAX_HEADER_BYTES
    response_seconds: float = 120.0
    abort_hold_seconds: float = 30.0
    idle_seconds: float = 60.0
    tunnels: tuple[HostPattern, ...] = ()
    opens_tls: bool = True
    max_frame_bytes: int = field(default=MAX_MESSAGE_BYTES, converter=or_unlimited)
    own_hosts: tuple[HostPattern, ...] = ()
    records_passthrough: bool = True

    def is_tunnelled(self, authority: Authority) -> bool:
        """Return whether traffic with a server is forwarded without parsing (``--tunnel``).

        :param authority: the target of CONNECT.
        """
        return matches_any(self.tunnels, authority.host, authority.port or 0)


@define(eq=False, kw_only=True)
class ProxyResources:
    """The objects that all connections of the forward proxy share.

    :param proxy_clients: the agents of the clients; ``None`` in a browser proxy, which announces
        nothing.
    :param stamp: in a browser proxy, adds the context to the header of a request for an origin, or
        removes it; ``None`` elsewhere.
    :param decoders: decode the bodies that are reported.
    :param protocols: knows which servers accept no HTTP/1.1.
    :param alias_key: keys the hash that makes aliases of contexts.
    """

    log: ClassVar[Logger] = Logger()

    settings: ProxySettings
    reactor: Any
    proxy_clients: ProxyClients | None
    pool: ConnectionPool
    dialer: Dialer
    certificates: Certificates
    stamp: Callable[[Origin, Pairs], Pairs] | None = None
    decoders: Decoders = field(
        default=Factory(lambda self: Decoders(self.reactor), takes_self=True), init=False
    )
    protocols: ServerProtocols = field(
        default=Factory(lambda self: ServerProtocols(self.dialer, self.reactor), takes_self=True),
        init=False,
    )
    alias_key: bytes = field(factory=lambda: secrets.token_bytes(32), init=False, repr=False)
    _unread: set[tuple[str, str]] = field(factory=set, init=False)

    def tell_unread(self, server: str, why: str, *, for_good: bool) -> None:
        """Write once into the log that the tunnels to a server are not read, and why.

        :param for_good: whether it is so even while a route may match.
        """
        if (server, why) in self._unread or len(self._unread) >= _MOST_UNREAD:
            return
        self._unread.add((server, why))
        self.log.warn(
            "{server} is not read, because {why}{extent}. The history shows each connection as "
            "CONNECT.",
            server=one_line(server),
            why=why,
            extent=(
                ": no route and no replay sees its requests"
                if for_good
                else ", while no route and no replay may match its requests"
            ),
        )

    @property
    def explains_failures(self) -> bool:
        """Whether a failed request to a server is answered with an error response.

        In a browser proxy it is not: the page and its test see the connection fail, as without a
        proxy.
        """
        return self.stamp is None

    def outgoing(self, origin: Origin, pairs: Pairs) -> Pairs:
        """Return the header to send to ``origin``: without a context unless it is under test."""
        if self.stamp is not None:
            return self.stamp(origin, pairs)
        if not may_carry(pairs):
            return pairs
        if is_under_test(self.settings.own_hosts, origin.host, origin.port):
            return pairs
        return self.concealed(pairs)

    def concealed(self, pairs: Pairs) -> Pairs:
        """Remove the context from header lines, and replace its id by an alias elsewhere in them.

        The id may be that of a trace, which applications write into headers of several names.
        """
        plain = without_context(pairs)
        clients = self.proxy_clients
        for each in ids_in(pairs):
            if clients is not None and clients.gateway.is_reserved(each.decode("ascii")):
                plain = with_other_id(plain, each, self.alias(each))
        return plain

    def revealed(self, pairs: Pairs, context_id: str) -> Pairs:
        """Replace the alias by the context in header lines that a test made from concealed ones."""
        context = context_id.encode("ascii")
        return with_other_id(pairs, self.alias(context), context)

    def alias(self, context: bytes) -> bytes:
        """Return the id that replaces a context, by a keyed hash: always the same one for it."""
        return blake2b(context, digest_size=16, key=self.alias_key).hexdigest().encode("ascii")

    def request_head(
        self, method: bytes, origin: Origin, path: bytes, pairs: Pairs, framing: Framing
    ) -> bytes:
        """Write the head of a request to a server, or to ``--upstream-proxy``.

        :param framing: how the body will be sent.
        """
        pairs = self.outgoing(origin, pairs)
        host = origin.authority.encode("ascii")
        proxy = self.dialer.http_proxy(origin)
        if proxy is not None:
            path = b"http://%s%s" % (host, b"" if path == b"*" else path)
            if proxy.credentials is not None:
                pairs = [*pairs, (b"Proxy-Authorization", proxy.credentials)]
        return request_block(method, path, host, pairs, framing)
