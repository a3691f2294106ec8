"""A connection on the reactor that is lost, or closed while it is opened."""

from typing import Any, cast

import msgspec
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import kept
from trafficmock.testing.adapters.twisted_connection import TwistedConnection
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.session.worker_client import WorkerIdentity
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import encode
from trafficmock.wire.features import OF_WORKERS

HOUR = 3600.0


class FakeProtocol:
    """A WebSocket that is open until the test ends it."""

    def __init__(self, connection: TwistedConnection) -> None:
        self.connection = connection
        self.sent: list[Any] = []
        connection.opened(cast("Any", self))

    def sendMessage(self, payload: bytes) -> None:
        self.sent.append(msgspec.json.decode(payload))

    def sendClose(self, code: int) -> None:
        self.sent.append(code)
        self.connection.lost("closed")

    def receives(self, message: Any) -> None:
        self.connection.received(encode(message))


class LostConnectionTests(SynchronousTestCase):
    """Time stands still, and a proxy is there when the test says so."""

    def setUp(self) -> None:
        self.reactor = MemoryReactorClock()
        identity = WorkerIdentity(version="1")
        self.connection = TwistedConnection(self.reactor, "http://127.0.0.1:4310", identity)
        self.opening = self.connection.open()

    def test_stays_lost(self) -> None:
        """What is lost stays lost, also for a strict run: the next test connects anew."""
        protocol = FakeProtocol(self.connection)
        protocol.receives(outbound.HelloOk("c", 3, "1", "python-0", list(OF_WORKERS)))
        promise = self.connection.client.make_run_strict(["a.test"])
        protocol.receives(outbound.RunStricted(protocol.sent[-1]["queryId"]))
        kept(promise)
        self.connection.lost("cut")
        self.reactor.advance(HOUR)
        self.assertEqual(len(self.reactor.tcpClients), 1)
        with self.assertRaisesRegex(ConnectionLostError, "cut"):
            self.connection.client.send(inbound.Ping(1))
        self.assertIsNone(self.successResultOf(self.connection.close()))

    def test_closed(self) -> None:
        """A connection that is opened after the close is closed."""
        self.successResultOf(self.connection.close())
        self.failureResultOf(self.opening, ConnectionLostError)
        late = FakeProtocol(self.connection)
        self.assertEqual(late.sent, [1000])
