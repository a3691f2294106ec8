"""Knows which servers the proxy cannot speak with in the place of a client.

They accept no HTTP/1.1, or want the certificate of a client.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import Enum
from typing import Any

from attrs import define, field, frozen
from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import wrapClientTLS
from twisted.internet.interfaces import (
    IHandshakeListener,
    IOpenSSLClientConnectionCreator,
    IReactorTime,
)
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.http.hosts import Authority, parse_address
from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.server_verification import HTTP_1_1
from trafficmock.proxy.upstream.upstream_connection import refuses_http_1_1

HTTP_2 = b"h2"
ASK_SECONDS = 3.0
"""How long one handshake may take. After it the server counts as one that was not reached."""

KNOWN_SECONDS = 600.0
"""How long it is remembered which protocols a server accepts."""

UNREACHED_SECONDS = 30.0
"""How long a server that was not reached is not asked again."""

MOST_SERVERS = 1000
"""The most servers of which it is remembered; the one that was asked first is forgotten."""


class Accepted(Enum):
    """What a server said of HTTP/1.1, or of the proxy."""

    HTTP_1_1 = "it accepts HTTP/1.1, or no ALPN, without which a client speaks HTTP/1.1"
    OTHERS = "it accepts other protocols only"
    CERTIFIED = "it asks for a client certificate, and a request without one failed"
    UNKNOWN = "it was not reached, or TLS failed for another reason"


@define(eq=False)
class ServerProtocols:
    """Asks servers by a TLS handshake behind which nothing is sent.

    The certificate is not verified, because nothing is sent. A server that selects no protocol
    where HTTP/1.1 is offered may not know ALPN, or accept HTTP/2 only. A second handshake, which
    offers HTTP/2, tells.

    :param dialer: connects with servers.
    :param clock: monotonic seconds, and timers.
    """

    dialer: Dialer
    clock: IReactorTime
    _known: OrderedDict[tuple[str, int], tuple[Accepted, float]] = field(
        factory=OrderedDict, init=False
    )
    _waiting: dict[tuple[str, int], list[Deferred[Accepted]]] = field(factory=dict, init=False)

    def known(self, authority: Authority) -> Accepted | None:
        """Return what a server said of late; ``None`` if it has to be asked."""
        found = self._known.get(_key(authority))
        if found is None or found[1] < self.clock.seconds():
            return None
        return found[0]

    def note(self, authority: Authority, accepted: Accepted) -> None:
        """Remember what a server said."""
        key = _key(authority)
        seconds = UNREACHED_SECONDS if accepted is Accepted.UNKNOWN else KNOWN_SECONDS
        self._known.pop(key, None)
        self._known[key] = accepted, self.clock.seconds() + seconds
        if len(self._known) > MOST_SERVERS:
            self._known.popitem(last=False)

    def ask(self, authority: Authority, reached_at: Any) -> Deferred[Accepted]:
        """Ask a server, unless it is being asked already.

        :param reached_at: the local address to which the client connected, to detect loops.
        :returns: fires with what it says, and never fails.
        """
        done: Deferred[Accepted] = Deferred()
        waiting = self._waiting.setdefault(_key(authority), [])
        waiting.append(done)
        if len(waiting) == 1:
            asking = Deferred.fromCoroutine(self._ask(authority, reached_at))
            asking.addErrback(lambda _: Accepted.UNKNOWN)
            asking.addCallback(self._answered, authority)
        return done

    def _answered(self, accepted: Accepted, authority: Authority) -> None:
        self.note(authority, accepted)
        for each in self._waiting.pop(_key(authority)):
            each.callback(accepted)

    async def _ask(self, authority: Authority, reached_at: Any) -> Accepted:
        selected = await self._handshake(authority, reached_at, HTTP_1_1)
        if selected is None or selected == HTTP_1_1:
            return Accepted.OTHERS if selected is None else Accepted.HTTP_1_1
        other = await self._handshake(authority, reached_at, HTTP_2)
        return Accepted.OTHERS if other == HTTP_2 else Accepted.HTTP_1_1

    async def _handshake(
        self, authority: Authority, reached_at: Any, protocol: bytes
    ) -> bytes | None:
        """Offer one protocol to a server.

        :returns: what it selected, empty for none; ``None`` if it refused the handshake for want of
            a protocol.
        :raises Exception: if it was not reached, or TLS failed for another reason.
        """
        host, port = authority.host, authority.port or 0
        endpoint = wrapClientTLS(_Offer(host, protocol), self.dialer.host_endpoint(host, port))
        made = _Handshake()
        connecting = self.dialer.connect(endpoint, lambda: made, f"{host}:{port}", reached_at)
        connecting.addErrback(made.fails)
        made.done.addTimeout(ASK_SECONDS, self.clock)
        try:
            return await made.done
        finally:
            connecting.cancel()
            made.end()


def _key(authority: Authority) -> tuple[str, int]:
    return authority.host, authority.port or 0


@implementer(IHandshakeListener)
class _Handshake(Protocol):
    """One connection up to the end of its TLS handshake.

    :ivar done: fires with the protocol that the server selected; see ``_handshake``.
    """

    def __init__(self) -> None:
        self.done: Deferred[bytes | None] = Deferred()

    def handshakeCompleted(self) -> None:  # noqa: N802 - Twisted's name
        """Tell what the server selected."""
        transport: Any = self.transport
        self._tell(transport.negotiatedProtocol or b"")

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Tell why there is no handshake."""
        if refuses_http_1_1(reason.value):
            self._tell(None)
        else:
            self.fails(reason)

    def fails(self, failure: Failure) -> None:
        """Tell that the server was not asked."""
        done = self.done
        if not done.called:
            done.errback(failure)

    def end(self) -> None:
        """Close the connection."""
        transport: Any = self.transport
        if transport is not None:
            transport.loseConnection()

    def _tell(self, selected: bytes | None) -> None:
        if not self.done.called:
            self.done.callback(selected)


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class _Offer:
    """Makes the client side of a handshake that offers one protocol."""

    host: str
    protocol: bytes = field(repr=False)

    def clientConnectionForTLS(self, protocol: Any) -> SSL.Connection:  # noqa: ARG002, N802 - Twisted's signature
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_alpn_protos([self.protocol])
        connection = SSL.Connection(context, None)
        if parse_address(self.host) is None:
            connection.set_tlsext_host_name(self.host.encode("ascii"))
        return connection
