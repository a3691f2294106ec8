"""The dashboard's site without a port, and a proxy that says what a test wants."""

import re
from typing import Any, cast

from attrs import define, field
from treq.client import HTTPClient
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http_headers import Headers

from tests.support.http_client import Answer, Connection, Transport, parse
from trafficmock.dashboard.dashboard_root import DashboardRoot
from trafficmock.dashboard.proxy_client import ProxyApiClient
from trafficmock.dashboard.proxy_relay import ProxyRelay
from trafficmock.dashboard.static_files import Page
from trafficmock.http.access import AccessPolicy
from trafficmock.http.http_limits import ConnectionCount, HttpLimits
from trafficmock.server.site import ServiceSite

PROXY = "http://127.0.0.1:4310"
PAGES = {
    "/": Page(b"<p>start</p>", b"text/html; charset=utf-8", '"start"'),
    "/js/main.js": Page(b"go()", b"text/javascript; charset=utf-8", '"main"'),
}


class Source(StringTransport):
    """Where a body comes from."""

    def loseConnection(self) -> None:
        self.disconnecting = True


@define
class FakeResponse:
    """An answer of the proxy, whose body a test sends."""

    code: int = 200
    phrase: bytes = b"OK"
    headers: Headers = field(factory=lambda: Headers({b"content-type": [b"application/json"]}))
    length: Any = None
    protocol: Any = None
    source: Source = field(factory=Source)

    def deliverBody(self, protocol: Any) -> None:
        self.protocol = protocol
        protocol.makeConnection(self.source)

    def send(self, data: bytes) -> None:
        self.protocol.dataReceived(data)

    def end(self, reason: Exception | None = None) -> None:
        self.protocol.connectionLost(Failure(reason or ResponseDone()))


@define
class FakeAgent:
    """Takes questions; a test answers them."""

    asked: list[tuple[bytes, bytes, Headers]] = field(factory=list)
    waiting: list[Deferred[Any]] = field(factory=list)
    cancelled: int = 0

    def request(
        self,
        method: bytes,
        uri: bytes,
        headers: Headers,
        bodyProducer: Any = None,  # noqa: N803 - Twisted's
    ) -> Deferred[Any]:
        assert bodyProducer is None
        self.asked.append((method, uri, headers))

        def cancel(_: Deferred[Any]) -> None:
            self.cancelled += 1

        self.waiting.append(Deferred(cancel))
        return self.waiting[-1]

    def answer(self, at: int = 0, **what: Any) -> FakeResponse:
        response = FakeResponse(**what)
        self.waiting.pop(at).callback(response)
        return response

    def fail(self, error: Exception) -> None:
        self.waiting.pop(0).errback(error)


@define
class Dashboard:
    """A dashboard on a clock."""

    guard: AccessPolicy = field(factory=AccessPolicy)
    clock: Clock = field(factory=Clock)
    agent: FakeAgent = field(factory=FakeAgent)
    relay: ProxyRelay = field(init=False)
    site: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        limits = HttpLimits()
        upstream = ProxyApiClient(
            client=HTTPClient(cast("Any", self.agent)),
            proxy_url=PROXY,
            clock=cast("Any", self.clock),
        )
        self.relay = ProxyRelay(upstream)
        root = DashboardRoot(
            pages=PAGES, relay=self.relay, guard=self.guard, version="1.2.3", proxy_url=PROXY
        )
        self.site = ServiceSite(
            cast("Any", root),
            server_header=b"trafficmock-dashboard/1.2.3",
            connections=ConnectionCount(limits.max_connections, self.clock.seconds),
            limits=limits,
            reactor=cast("Any", self.clock),
        )

    def open(
        self,
        target: str,
        *,
        method: str = "GET",
        peer: str = "127.0.0.1",
        bound: str = "127.0.0.1",
        **headers: str,
    ) -> Connection:
        """Send a request; ``_`` in header names stands for ``-``."""
        transport = Transport(IPv4Address("TCP", bound, 4311), IPv4Address("TCP", peer, 50000))
        transport.protocol = self.site.buildProtocol(transport.getPeer())
        transport.protocol.makeConnection(transport)
        connection = Connection(transport, self.clock)
        lines = {"host": "localhost:4311"} | headers
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        connection.send(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1"))
        return connection

    def ask(self, target: str, **how: Any) -> Answer:
        """Send a request that is answered at once."""
        return self.open(target, **how).take(how.get("method", "GET"))


def taken(connection: Connection, method: str = "GET") -> Answer:
    """Read what was answered, chunks joined."""
    data = connection.transport.value()
    assert re.match(rb"HTTP/1\.1 \d{3} ", data), data
    return parse(data, method)
