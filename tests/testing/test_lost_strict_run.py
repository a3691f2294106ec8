"""A strict run whose connection is lost on the reactor: it is opened again, tests stay lost."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from twisted.internet.error import ConnectionRefusedError as TwistedRefused
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import kept
from trafficmock.testing.adapters.twisted_connection import TwistedConnection
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.session.worker_client import RETURN_SECONDS, WorkerIdentity
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import encode


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

    def accepts(self) -> None:
        """Accept the worker, and acknowledge a strict run, if one is asked for."""
        self.receives(outbound.HelloOk("c", 3, "1", "python-0", ["chain", "strict"]))
        if self.sent[-1]["type"] == "run:strict":
            self.receives(outbound.RunStricted(self.sent[-1]["queryId"]))


class LostStrictRunTests(SynchronousTestCase):
    """Time stands still, and a proxy is there when the test says so."""

    def setUp(self) -> None:
        self.reactor = MemoryReactorClock()
        identity = WorkerIdentity(version="1")
        self.connection = TwistedConnection(self.reactor, "http://127.0.0.1:4310", identity)
        self.connection.open()
        self.first = FakeProtocol(self.connection)
        self.first.accepts()

    def make_strict(self) -> None:
        promise = self.connection.client.make_run_strict(["a.test"])
        self.first.receives(outbound.RunStricted(self.first.sent[-1]["queryId"]))
        kept(promise)

    def tries(self) -> int:
        """Count the connections that were begun."""
        return len(self.reactor.tcpClients)

    def refuse(self) -> None:
        """Let the last connection fail: no proxy is there."""
        factory = self.reactor.tcpClients[-1][2]
        connector = self.reactor.connectors[-1]
        factory.clientConnectionFailed(connector, Failure(TwistedRefused()))
        # The endpoint looks for a further address first.
        self.reactor.advance(0.3)

    def test_strict(self) -> None:
        """The run is strict again as soon as a proxy is there, as often as that is lost."""
        self.make_strict()
        self.first.connection.lost("cut")
        self.reactor.advance(RETURN_SECONDS / 2)
        self.assertEqual(self.tries(), 1)
        self.reactor.advance(RETURN_SECONDS / 2)
        self.assertEqual(self.tries(), 2)
        self.refuse()
        for expected in (3, 4):
            self.reactor.advance(RETURN_SECONDS)
            self.assertEqual(self.tries(), expected)
            protocol = FakeProtocol(self.connection)
            protocol.accepts()
            hello, run = protocol.sent
            self.assertEqual((hello["type"], run["allow"]), ("hello", ["a.test"]))
            with self.assertRaisesRegex(ConnectionLostError, "cut"):
                self.connection.client.send(inbound.Ping(1))
            self.connection.lost("cut again")

    def test_not_strict(self) -> None:
        """What is not strict stays lost."""
        self.connection.lost("cut")
        self.reactor.advance(RETURN_SECONDS)
        self.assertEqual(self.tries(), 1)
        self.assertIsNone(self.successResultOf(self.connection.close()))

    def test_closed(self) -> None:
        """After the run's end no connection is opened, and one that is under way is closed."""
        self.make_strict()
        self.connection.lost("cut")
        self.successResultOf(self.connection.close())
        self.reactor.advance(RETURN_SECONDS)
        self.assertEqual(self.tries(), 1)
        late = FakeProtocol(self.connection)
        self.assertEqual(late.sent, [1000])

    def test_closed_while_strict_again(self) -> None:
        """The run's end closes the connection that kept it strict."""
        self.make_strict()
        self.connection.lost("cut")
        self.reactor.advance(RETURN_SECONDS)
        keeper = FakeProtocol(self.connection)
        keeper.accepts()
        self.successResultOf(self.connection.close())
        self.assertEqual(keeper.sent[-1], 1000)
        self.reactor.advance(RETURN_SECONDS)
        self.assertEqual(self.tries(), 2)
