"""The forward proxy without sockets: clients and servers are transports in memory."""

import base64
import contextlib
import json
import ssl
from typing import Any

from attrs import define, field
from twisted.internet import error as network
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from tests.server.fakes import DriverHarness, FakeLink
from trafficmock.core.settings import Settings
from trafficmock.history.query import Query
from trafficmock.http.this_service import ThisService
from trafficmock.proxy.downstream.forward_proxy import ForwardProxy, make_forward_proxy
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.dialer import Dialer

OURS = IPv4Address("TCP", "127.0.0.1", 4310)
GET = b"GET http://api.test/x HTTP/1.1\r\nHost: api.test\r\n\r\n"


class FakeTransport(StringTransport):
    """Keeps what is done to it, and tells its protocol of the end when asked to."""

    def __init__(self, host: Any = OURS, peer: Any = None) -> None:
        super().__init__(host, peer or IPv4Address("TCP", "192.0.2.1", 80))
        self.protocol: Any = None
        self.opened: Any = None
        self.aborted = False
        self.half_closed = False
        self.paused = False
        self.producer: Any = None
        self.transport: Any = None
        self.bufferSize = 65536

    def setTcpNoDelay(self, enabled: bool) -> None:  # noqa: FBT001 - Twisted's
        """Take it."""

    def loseWriteConnection(self) -> None:
        self.half_closed = True

    def abortConnection(self) -> None:
        self.aborted = True
        self.lose(ConnectionLost())

    def pauseProducing(self) -> None:
        self.paused = True

    def resumeProducing(self) -> None:
        self.paused = False

    def unregisterProducer(self) -> None:
        """As real transports do, take it without one, too."""
        self.producer = None

    def lose(self, reason: Exception | None = None) -> None:
        """End the connection."""
        protocol, self.protocol = self.protocol, None
        if protocol is not None:
            protocol.connectionLost(Failure(reason or ConnectionDone()))

    def sends(self, data: bytes) -> None:
        """Let the other side speak."""
        assert self.protocol is not None, "the connection is gone"
        self.protocol.dataReceived(data)

    def took(self) -> bytes:
        """Give what was written since the last call."""
        written: bytes = self.value()
        self.clear()
        return written


@define(eq=False)
class FakeDialer(Dialer):
    """Connects with servers in memory, at once unless ``slow``."""

    reactor: Any = None
    connect_seconds: float = 10.0
    servers: list[FakeTransport] = field(factory=list)
    asked: list[str] = field(factory=list)
    origins: list[Origin] = field(factory=list)
    error: Exception | None = None
    slow: list[Deferred[Any]] | None = None
    proxy: Any = None
    trust: Any = None
    peer: Any = None
    nowhere: Exception | None = None

    def connect(self, *args: Any) -> Deferred[Any]:
        """Connect; with real transports, too, an abort here is not told at once."""
        before = len(self.servers)
        found = super().connect(*args)
        for server in self.servers[before:]:
            server.protocol = None if server.aborted else server.opened
        return found

    def to(self, origin: Origin) -> Any:
        if self.nowhere is not None:
            raise self.nowhere
        self.origins.append(origin)
        return FakeEndpoint(self, str(origin))

    def websocket_endpoint(self, origin: Origin) -> Any:
        return FakeEndpoint(self, f"socket {origin}")

    def host_endpoint(self, host: str, port: int) -> Any:
        return FakeEndpoint(self, f"{host}:{port}")


@define(eq=False)
class FakeEndpoint:
    """A server that takes every connection."""

    dialer: FakeDialer
    name: str

    def connect(self, factory: Any) -> Deferred[Any]:
        self.dialer.asked.append(self.name)
        if self.dialer.error is not None:
            return fail(self.dialer.error)
        if self.dialer.slow is not None:
            waiting: Deferred[Any] = Deferred()
            self.dialer.slow.append(waiting)
            return waiting
        transport = FakeTransport(IPv4Address("TCP", "127.0.0.1", 50000), self.dialer.peer)
        transport.opened = factory.buildProtocol(None)
        self.dialer.servers.append(transport)
        transport.opened.makeConnection(transport)
        return succeed(transport.opened)


@define(eq=False)
class ForwardProxyHarness:
    """A forward proxy with its core and history, and any number of clients and servers."""

    settings: ProxySettings = field(factory=ProxySettings)
    core: DriverHarness = field(factory=lambda: DriverHarness(Settings(version="1.2.3")))
    dialer: FakeDialer = field(factory=FakeDialer)
    certificates: Any = None
    proxy: ForwardProxy = field(init=False)
    ended: int = 0

    def __attrs_post_init__(self) -> None:
        self.proxy = make_forward_proxy(
            settings=self.settings,
            gateway=self.core.driver,
            this_service=ThisService(["127.0.0.1"]),
            dialer=self.dialer,
            certificates=self.certificates,
            version="1.2.3",
            reactor=self.core.clock,
        )

    @property
    def resources(self) -> Any:
        return self.proxy.resources

    @property
    def servers(self) -> list[FakeTransport]:
        return self.dialer.servers

    def connect(self) -> FakeTransport:
        """Give the transport of a client that is known to want the forward proxy."""
        return self.attach(self.proxy._client(self._no_service, self._count))

    def attach(self, protocol: Any) -> FakeTransport:
        transport = FakeTransport()
        transport.protocol = protocol
        protocol.makeConnection(transport)
        return transport

    def ask(self, data: bytes) -> FakeTransport:
        """Give the transport of a client that has sent something."""
        client = self.connect()
        client.sends(data)
        return client

    def worker(self, glob: str = "http://api.test/**", kind: str = "http") -> FakeLink:
        """Give a worker with a test ``t`` that owns what matches."""
        return self.core.worker_with_route(glob, kind=kind)

    def decide(self, worker: FakeLink, action: str, **fields: Any) -> None:
        """Let the worker decide about the request that it was handed."""
        (matched,) = [m for m in worker.sent if m["type"] == "request:matched"]
        worker.sent.clear()
        result = {"action": action, **fields}
        self.core.send_message(
            worker, "handler:result", requestId=matched["requestId"], result=result
        )

    def entries(self) -> list[dict[str, Any]]:
        """List the history, oldest first."""
        rows = reversed(list(self.core.history.requests.query(Query())))
        return [json.loads(row.to_json()) for row in rows]

    def entry(self) -> dict[str, Any]:
        """Give the only entry of the history."""
        (only,) = self.entries()
        return only

    def events(self) -> list[tuple[str, str | None]]:
        """List the timeline of the only entry."""
        return [(event["kind"], event.get("detail")) for event in self.entry()["events"]]

    def _count(self) -> None:
        self.ended += 1

    def _no_service(self, *, once: bool) -> Any:
        raise AssertionError(f"given to the other protocols, once: {once}")


def fulfilled(text: str = "mock", status: int = 200, **headers: str) -> dict[str, Any]:
    """Write the ``response`` of a fulfill."""
    coded = base64.b64encode(text.encode()).decode() or None
    return {"status": status, "statusText": "OK", "headers": headers, "bodyBase64": coded}


def refused() -> Exception:
    """Give the error of a server that is not there."""
    return network.ConnectionRefusedError()


def client_hello(*protocols: str) -> bytes:
    """Return the ClientHello of a client that offers protocols by ALPN."""
    context = ssl.create_default_context()
    if protocols:
        context.set_alpn_protocols([*protocols])
    sent = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="api.test")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return sent.read()
