"""A client of the real site without a port: bytes in, parsed answers out."""

import json
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPResponse
from io import BytesIO
from typing import Any, cast

from attrs import define, field, frozen
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import Request

from trafficmock import records
from trafficmock.history.store import History
from trafficmock.http.access import AccessPolicy
from trafficmock.http.http_limits import HttpLimits
from trafficmock.records import Owner
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.site import make_site
from trafficmock.wire.payloads.body import from_bytes
from trafficmock.wire.payloads.serialized_request import SerializedRequest as WireRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

OWNER = Owner("T1", "R1", "buys a book", "shop.spec.ts")


@frozen
class Answer:
    """An answer as a client sees it."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._file = BytesIO(data)

    def makefile(self, mode: str) -> BytesIO:  # noqa: ARG002 - the shape of a socket
        return self._file


def parse(data: bytes, method: str = "GET") -> Answer:
    """Read one answer with the standard library's client."""
    response = HTTPResponse(cast("Any", _Bytes(data)), method=method)
    response.begin()
    body = response.read()
    return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, body)


class Transport(StringTransport):
    """A transport that can be cut off, and says so to its protocol when asked to."""

    aborted = False
    half_closed = False
    protocol: Any = None

    def abortConnection(self) -> None:
        self.aborted = True
        self.loseConnection()

    def loseWriteConnection(self) -> None:
        self.half_closed = True

    def setTcpNoDelay(self, enabled: bool) -> None:  # noqa: FBT001 - Twisted's signature
        """Nothing is delayed here."""


class FakeWebSocket(Resource):
    """Takes every connection it is given, as the real one would."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self) -> None:
        super().__init__()
        self.received = b""
        self.lost = 0

    def render(self, request: Request) -> int:
        channel: Any = request.channel
        transport, channel.transport = channel.transport, None
        transport.protocol = self
        return 1  # server.NOT_DONE_YET

    def dataReceived(self, data: bytes) -> None:
        self.received += data

    def when_lost(self, ended: Callable[[], None]) -> None:
        self.ended = ended

    def connectionLost(self, reason: object) -> None:  # noqa: ARG002 - Twisted's signature
        self.ended()
        self.lost += 1


@define
class Connection:
    """One open connection."""

    transport: Transport
    clock: Clock

    def send(self, data: bytes) -> None:
        self.transport.protocol.dataReceived(data)
        self.turn()

    def step(self) -> bool:
        """Run one call that is due now, if there is one: one turn of a reactor."""
        if not self.clock.calls or self.clock.calls[0].getTime() > self.clock.seconds():
            return False
        call = self.clock.calls.pop(0)
        call.called = 1
        call.func(*call.args, **call.kw)
        return True

    def turn(self, most: int = 100_000) -> None:
        """Run what is due now, and what that makes due; in vain, it is a fault."""
        for _ in range(most):
            if not self.step():
                return
        raise AssertionError("it never ends")

    def lose(self) -> None:
        if self.transport.producer is not None:
            self.transport.producer.stopProducing()
        self.transport.protocol.connectionLost(Failure(ConnectionDone()))

    def take(self, method: str = "GET") -> Answer:
        data = self.transport.value()
        self.transport.clear()
        return parse(data, method)


PEM = b"-----BEGIN CERTIFICATE-----\n"


def _report() -> Mapping[str, Any]:
    return {
        "nodeAgents": [{"clientId": "api", "connectionId": "c1", "kind": "node"}],
        "runnerWorkers": [
            {
                "clientId": "playwright-0",
                "connectionId": "c2",
                "workerId": "0",
                "testCount": 1,
                "routeCount": 2,
            }
        ],
    }


@define
class Service:
    """A site on a clock with a history of its own."""

    history: History = field(factory=History)
    guard: AccessPolicy = field(factory=AccessPolicy)
    limits: HttpLimits = field(factory=HttpLimits)
    clock: Clock = field(factory=Clock)
    websocket: FakeWebSocket = field(factory=FakeWebSocket)
    report: Any = _report
    ca_pem: Any = lambda: PEM
    redactor: Redactor = field(factory=Redactor)
    site: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.site = make_site(
            history=self.history,
            connections=lambda _: self.report(),
            ca_pem=lambda: self.ca_pem(),  # noqa: PLW0108 - a test may replace it
            websocket=self.websocket,
            guard=self.guard,
            version="1.2.3",
            capture=self.history.capture,
            limits=self.limits,
            reactor=cast("Any", self.clock),
            start="s",
            redactor=self.redactor,
        )

    def connect(self, *, peer: str = "127.0.0.1", bound: str = "127.0.0.1") -> Connection:
        transport = Transport(IPv4Address("TCP", bound, 4310), IPv4Address("TCP", peer, 50000))
        transport.protocol = self.site.buildProtocol(transport.getPeer())
        transport.protocol.makeConnection(transport)
        return Connection(transport, self.clock)

    def ask(
        self,
        target: str,
        *,
        method: str = "GET",
        peer: str = "127.0.0.1",
        bound: str = "127.0.0.1",
        **headers: str,
    ) -> Answer:
        """Send one request on a connection of its own; ``_`` in header names stands for ``-``."""
        lines = {"host": "localhost:4310"} | headers
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        connection = self.connect(peer=peer, bound=bound)
        connection.send(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1"))
        return connection.take(method)


def record(
    history: History,
    request_id: str,
    url: str = "http://api.test/x",
    body: bytes = b"",
    at: int = 1000,
    *,
    answered: bool = True,
) -> None:
    """Record a request, and a mocked response if it is to be answered."""
    history.record(
        records.RequestSeen(
            request_id, "api", WireRequest(url, "POST", {"a": "b"}, from_bytes(body))
        ),
        at,
    )
    if answered:
        response = SerializedResponse(200, "OK", {"content-type": "text/plain"}, from_bytes(b"hi"))
        history.record(records.RequestFulfilled(request_id, OWNER, response), at + 5)


def ids(answer: Answer, name: str = "entries") -> Iterator[str]:
    """Give the ids of a list, in its order."""
    return (entry["id"] for entry in answer.json()[name])
