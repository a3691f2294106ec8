"""Connects with servers for a sealed command, whose loopback and short names are its own.

A relay outside of its namespaces passes its connections on to the proxy, so the proxy would reach
this machine's servers for it. The relay says so in the first line of each connection.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IProtocolFactory, IStreamClientEndpoint
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.http.hosts import parse_authority
from trafficmock.matching.host_pattern import is_under_test
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream_errors import sealed_off

Reach = frozenset[tuple[str, int]]
"""The servers of ``--reach``: hosts and ports."""


def read_reach(text: str) -> Reach | None:
    """Read what a sealed command may reach: ``HOST:PORT``, separated by commas.

    :returns: ``None`` for another form.
    """
    found = [parse_authority(each) for each in text.split(",") if each]
    read = [(each.host, each.port) for each in found if each is not None and each.port]
    return frozenset(read) if len(read) == len(found) else None


@define(eq=False, kw_only=True)
class SealedDialer(Dialer):
    """A dialer that refuses the machine's own servers, but for some.

    :param reach: the servers that it does not refuse.
    """

    reach: Reach = frozenset()

    @classmethod
    def of(cls, dialer: Dialer, reach: Reach) -> SealedDialer:
        """Make one that connects as another does."""
        made = cls(
            reactor=dialer.reactor,
            connect_seconds=dialer.connect_seconds,
            trust=dialer.trust,
            resolved=dialer.resolved,
            proxy=dialer.proxy,
            bound_everywhere=dialer.bound_everywhere,
            reach=reach,
        )
        made.service_port = dialer.service_port
        return made

    def to(self, origin: Origin) -> IStreamClientEndpoint:
        """Return the endpoint for requests to a server; it fails for one that is refused."""
        if self._is_refused(origin.host, origin.port):
            return _Refusing(f"{origin.host}:{origin.port}")
        return Dialer.to(self, origin)

    def host_endpoint(self, host: str, port: int) -> IStreamClientEndpoint:
        """Return the endpoint of a host without TLS; it fails for one that is refused."""
        if self._is_refused(host, port):
            return _Refusing(f"{host}:{port}")
        return Dialer.host_endpoint(self, host, port)

    def connect(
        self,
        endpoint: IStreamClientEndpoint,
        build: Callable[[], Any],
        name: object,
        reached_at: Any,
    ) -> Deferred[Any]:
        """Connect with a server; a name that turns out to be this machine's is refused, too."""
        connecting = Dialer.connect(self, endpoint, build, name, reached_at)
        done: Deferred[Any] = Deferred(lambda _: connecting.cancel())

        def check(protocol: Any) -> None:
            peer = protocol.transport.getPeer()
            host, port = getattr(peer, "host", ""), getattr(peer, "port", 0)
            if _is_own_address(host) and self._is_refused("localhost", port):
                done.errback(Failure(sealed_off(name)))
                protocol.transport.abortConnection()
            else:
                done.callback(protocol)

        connecting.addCallbacks(check, done.errback)
        return done

    def _is_refused(self, host: str, port: int) -> bool:
        if (host, port) in self.reach:
            return False
        if not _is_own_address(host) and not is_under_test((), host, port):
            return False
        own = self.proxy is not None and (host, port) == (self.proxy.host, self.proxy.port)
        if own or not (_is_own_address(host) or host.rpartition(".")[2] == "localhost"):
            return not own
        # Loopback has several names.
        known = [each for each, number in self.reach if number == port]
        return not any(_is_own_address(each) or each == "localhost" for each in known)


@implementer(IStreamClientEndpoint)
@define(eq=False)
class _Refusing:
    """The endpoint of a server that is refused.

    :param name: the server.
    """

    name: str

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[Any]:  # noqa: ARG002, N803 - Twisted's names
        """Fail."""
        return fail(sealed_off(self.name))


def _is_own_address(host: str) -> bool:
    try:
        address = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    plain = getattr(address, "ipv4_mapped", None) or address
    return bool(plain.is_loopback or plain.is_unspecified)
