"""Browser proxies without sockets."""

from typing import Any

from attrs import define, evolve, field
from twisted.internet.address import IPv4Address
from twisted.internet.protocol import Factory
from twisted.internet.task import Clock

from tests.proxy.harness import FakeDialer, FakeTransport
from trafficmock.http.http_limits import ConnectionCount
from trafficmock.http.this_service import ThisService
from trafficmock.proxy.browser_proxy.browser_proxies import BrowserProxies
from trafficmock.proxy.browser_proxy.context_stamp import ContextStamp
from trafficmock.proxy.downstream.forward_proxy import ForwardProxy, make_forward_proxy
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.wire.payloads.application_origins import ApplicationOrigins

CONTEXT = "1" * 32
SPAN = b"2" * 16
MEMBER = f"baggage: trafficmock.test={CONTEXT}".encode()
TRACE = f"traceparent: 00-{CONTEXT}-{SPAN.decode()}-01".encode()


@define(eq=False)
class FakePort:
    """A port that somebody listens on."""

    factory: Factory
    port: int
    open: bool = True

    def getHost(self) -> IPv4Address:
        return IPv4Address("TCP", "127.0.0.1", self.port)

    def stopListening(self) -> None:
        self.open = False


@define(eq=False)
class BrowserProxyHarness:
    """Any number of browser proxies, and browsers that come in by them."""

    settings: ProxySettings = field(factory=lambda: ProxySettings(opens_tls=False))
    clock: Clock = field(factory=Clock)
    dialer: FakeDialer = field(factory=FakeDialer)
    ports: list[FakePort] = field(factory=list)
    count: ConnectionCount = field(factory=lambda: ConnectionCount(3, lambda: 0.0))
    error: Exception | None = None
    untagged: list[str] = field(factory=list)
    browser_proxies: BrowserProxies = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.browser_proxies = BrowserProxies(self.listen, self.forward, self.count)

    def listen(self, factory: Factory) -> Any:
        if self.error is not None:
            raise self.error
        self.ports.append(FakePort(factory, 50000 + len(self.ports)))
        return self.ports[-1]

    def forward(self, *, stamp: ContextStamp) -> ForwardProxy:
        certificates: Any = None
        return make_forward_proxy(
            settings=self.settings,
            gateway=None,
            this_service=ThisService(),
            dialer=self.dialer,
            certificates=certificates,
            version="1.2.3",
            reactor=self.clock,
            stamp=evolve(stamp, new_span=lambda: SPAN),
        )

    def open(self, *origins: str) -> int:
        """Open the browser proxy of the test ``t``."""
        return self.browser_proxies.open(
            "t", CONTEXT, ApplicationOrigins([*origins]), self.untagged.append
        )

    def ask(self, data: bytes) -> FakeTransport:
        """Give the transport of a browser that has sent something to the last one."""
        transport = FakeTransport(self.ports[-1].getHost())
        transport.protocol = self.ports[-1].factory.buildProtocol(None)
        transport.protocol.makeConnection(transport)
        transport.sends(data)
        return transport
