"""Connects with servers: directly, at the address of ``--resolve``, or through another proxy."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.interfaces import IProtocolFactory, IStreamClientEndpoint
from twisted.internet.protocol import Factory
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.http.hosts import is_loopback, parse_authority
from trafficmock.http.this_service import leads_back
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.connect_attempts import ConnectAttempts
from trafficmock.proxy.upstream.connect_endpoint import ConnectEndpoint
from trafficmock.proxy.upstream.resolver import FixedNameReactor, is_unusual
from trafficmock.proxy.upstream.server_verification import ServerVerification
from trafficmock.proxy.upstream_errors import loop_detected
from trafficmock.texts.message_text import without_credentials

_PROXY_URL = re.compile(r"http://(?:(?P<user>[^/@]*)@)?(?P<authority>[^/@?#]+)/?", re.IGNORECASE)


@frozen
class UpstreamProxy:
    """The proxy of ``--upstream-proxy``.

    :param credentials: the value of ``Proxy-Authorization``; ``None`` for none.
    """

    host: str
    port: int
    credentials: bytes | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str) -> UpstreamProxy:
        """Read ``http://[user:password@]host[:port]``.

        :raises ValueError: if the URL has another form.
        """
        found = _PROXY_URL.fullmatch(url)
        authority = None if found is None else parse_authority(found["authority"])
        if found is None or authority is None:
            raise ValueError(f"an address like http://host:port, not {without_credentials(url)!r}")
        user = found["user"]
        coded = None if user is None else b"Basic " + base64.b64encode(_unquote(user))
        return cls(authority.host, authority.port or 80, coded)


@define(eq=False, kw_only=True)
class Dialer:
    """Makes the endpoints of servers, and connects with them.

    :param reactor: connects and resolves names.
    :param connect_seconds: how long each attempt to connect may take.
    :param trust: verifies certificates.
    :param resolved: addresses by host and port, as of curl's ``--resolve``.
    :param proxy: the proxy for all servers that are not on a loopback address.
    :param bound_everywhere: whether this service listens on all interfaces.
    :ivar service_port: the port of this service, which is its own also for connections that came in
        by a browser proxy; ``None`` until it listens.
    """

    reactor: Any
    connect_seconds: float
    trust: ServerVerification
    resolved: Mapping[tuple[str, int], str] = field(factory=dict)
    proxy: UpstreamProxy | None = None
    bound_everywhere: bool = False
    service_port: int | None = field(default=None, init=False)

    def connect(
        self,
        endpoint: IStreamClientEndpoint,
        build: Callable[[], Any],
        name: object,
        reached_at: Any,
    ) -> Deferred[Any]:
        """Connect with a server; abort a connection with this service itself before it is used.

        :param build: makes the protocol.
        :param name: the server's name, for the error.
        :param reached_at: the local address to which the client connected.
        :returns: fires with the protocol, after its ``connectionMade``; fails with
            :func:`loop_detected`, or as the endpoint does. Cancelling it gives up.
        """
        factory = Factory.forProtocol(build)
        factory.noisy = False
        connecting = endpoint.connect(factory)
        done: Deferred[Any] = Deferred(lambda _: connecting.cancel())

        def check(protocol: Any) -> None:
            port, everywhere = self.service_port, self.bound_everywhere
            if leads_back(protocol.transport, reached_at, port, everywhere=everywhere):
                done.errback(Failure(loop_detected(name)))
                protocol.transport.abortConnection()
            else:
                done.callback(protocol)

        connecting.addCallbacks(check, done.errback)
        return done

    def to(self, origin: Origin) -> IStreamClientEndpoint:
        """Return the endpoint for requests to a server, with TLS for https.

        For http through another proxy, it is the endpoint of that proxy.

        :raises ValueError: if the host cannot have TLS.
        """
        if origin.scheme == "https":
            tls = self.trust.for_server(origin)
            return wrapClientTLS(tls, self.host_endpoint(origin.host, origin.port))
        proxy = self._proxy_to(origin.host)
        if proxy is not None:
            return self._direct(proxy.host, proxy.port)
        return self._direct(origin.host, origin.port)

    def websocket_endpoint(self, origin: Origin) -> IStreamClientEndpoint:
        """Return the endpoint of a WebSocket's server; through another proxy, always by CONNECT.

        :raises ValueError: if the host cannot have TLS.
        """
        plain = self.host_endpoint(origin.host, origin.port)
        if origin.scheme != "https":
            return plain
        return wrapClientTLS(self.trust.for_server(origin), plain)

    def host_endpoint(self, host: str, port: int) -> IStreamClientEndpoint:
        """Return the endpoint of a host without TLS; through another proxy, by CONNECT."""
        proxy = self._proxy_to(host)
        if proxy is None:
            return self._direct(host, port)
        return ConnectEndpoint(
            self._direct(proxy.host, proxy.port),
            host=f"[{host}]" if ":" in host else host,
            port=port,
            credentials=proxy.credentials,
            clock=self.reactor,
            seconds=self.connect_seconds,
        )

    def http_proxy(self, origin: Origin) -> UpstreamProxy | None:
        """Return the proxy that gets requests for an http origin in absolute form, or ``None``."""
        return self._proxy_to(origin.host) if origin.scheme == "http" else None

    def _proxy_to(self, host: str) -> UpstreamProxy | None:
        """Return the proxy for a host; ``None`` for loopback.

        A proxy on another machine would understand ``localhost`` as that machine.
        """
        return None if is_loopback(host) else self.proxy

    def _direct(self, host: str, port: int) -> IStreamClientEndpoint:
        address = self.resolved.get((host, port), host)
        reactor = self.reactor
        if is_unusual(address):
            # Twisted refuses to resolve such a name; it gets a valid one, which is replaced.
            reactor, address = FixedNameReactor(reactor, address), "unusual"
        return _HostEndpoint(reactor, address, port, self.connect_seconds)


@implementer(IStreamClientEndpoint)
@frozen
class _HostEndpoint:
    """Connects with a host, with a new :class:`ConnectAttempts` for each connection."""

    reactor: Any
    host: str
    port: int
    seconds: float

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[Any]:  # noqa: N803 - Twisted's name
        """Connect; see :class:`twisted.internet.endpoints.HostnameEndpoint`."""
        reactor: Any = ConnectAttempts(self.reactor)
        endpoint = HostnameEndpoint(reactor, self.host, self.port, timeout=self.seconds)
        return endpoint.connect(protocolFactory)


def parse_resolve(text: str) -> tuple[tuple[str, int], str]:
    """Read ``HOST:PORT:ADDRESS`` of ``--resolve``.

    :returns: host and port, and the address.
    :raises ValueError: if the text has another form.
    """
    found = re.fullmatch(
        r"(?P<host>\[[^\]]+\]|[^:\[\]]+):(?P<port>[0-9]{1,5}):(?P<address>.+)", text
    )
    name = None if found is None else parse_authority(f"{found['host']}:{found['port']}")
    to = None
    if found is not None:
        given = found["address"].strip("[]")
        to = parse_authority(f"[{given}]" if ":" in given else given)
    if name is None or not name.port or to is None:
        raise ValueError(f"HOST:PORT:ADDRESS, with an IPv6 host in brackets, not {text!r}")
    return (name.host, name.port), to.host


def _unquote(text: str) -> bytes:
    return re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode("utf-8")
    )
