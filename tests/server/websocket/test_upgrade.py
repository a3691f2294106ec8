"""The WebSocket door makes links of upgraded connections."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import MemoryReactorClock
from twisted.logger import LogLevel, capturedLogs
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.resource import Resource
from twisted.web.server import Site

from tests.server.websocket.harness import (
    HANDSHAKE,
    TEXT,
    FakeConnection,
    FakeSocket,
    RecordingHandler,
    frame,
)
from trafficmock.server.websocket import upgrade
from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
from trafficmock.server.websocket.data_frames import text_frame
from trafficmock.server.websocket.fast_protocol import FastProtocol
from trafficmock.server.websocket.upgrade import KNOWN_VERSIONS, WebSocketLimits, websocket_resource


class ResourceTests(SynchronousTestCase):
    """Upgrades by a real Twisted site."""

    def setUp(self) -> None:
        self.handler = RecordingHandler()
        self.reactor = MemoryReactorClock()

    def upgrade(self) -> FakeConnection:
        root = Resource()
        root.putChild(
            b"ws",
            websocket_resource(self.handler, limits=WebSocketLimits(), reactor=self.reactor),
        )
        site = Site(root, reactor=self.reactor)
        channel = site.buildProtocol(IPv4Address("TCP", "127.0.0.1", 51234))
        connection = FakeConnection(FakeSocket(), channel, self.reactor)
        connection.connected = True
        connection.startReading()
        channel.makeConnection(connection)
        channel.dataReceived(HANDSHAKE + b"\r\n")
        self.reactor.advance(0)
        connection.doWrite()
        return connection

    def make_unknown(self) -> None:
        """Let the installed Twisted be a version that nobody has compared."""
        self.patch(upgrade, "KNOWN_VERSIONS", KNOWN_VERSIONS | {"twisted": ((1,), (2,))})

    def warnings(self) -> list[str]:
        with capturedLogs() as logs:
            self.protocol = self.upgrade().protocol
        warned = [event for event in logs if event["log_level"] is LogLevel.warn]
        return [event["log_format"].format(**event) for event in warned]

    def test_upgrade(self) -> None:
        """The connection changes hands, and messages flow both ways."""
        for prepare in (lambda: None, self.make_unknown):
            prepare()
            connection = self.upgrade()
            self.assertTrue(connection.socket.writes[0].startswith(b"HTTP/1.1 101 "))
            self.assertIn(connection, self.reactor.getReaders())
            connection.protocol.dataReceived(frame(b"in"))
            self.assertEqual(self.handler.messages.pop(), b"in")
            connection.doWrite()
            self.handler.links[-1].send(text_frame(b"out"))
            self.reactor.advance(0)
            connection.doWrite()
            self.assertEqual(connection.socket.writes[1:], [bytes([0x80 | TEXT, 3]) + b"out"])

    def test_tuned(self) -> None:
        """With the versions at hand the tuned path is taken, without a word."""
        self.assertEqual(self.warnings(), [])
        self.assertIsInstance(self.protocol, FastProtocol)

    def test_unknown_version(self) -> None:
        """With a version that nobody has compared Autobahn's path is taken, and that is said."""
        self.make_unknown()
        (warning,) = self.warnings()
        self.assertIn("twisted ", warning)
        self.assertIs(type(self.protocol), AutobahnProtocol)

    def test_native_parts_missing(self) -> None:
        """Missing native parts are said at the start."""
        self.patch(upgrade, "native_parts_missing", lambda: "Something is missing.")
        self.assertEqual(self.warnings(), ["Something is missing."])

    @given(st.binary(max_size=60))
    def test_junk(self, data: bytes) -> None:
        """Whatever follows the handshake, nothing is raised and the link ends once."""
        self.handler.events.clear()
        connection = self.upgrade()
        connection.protocol.dataReceived(data)
        self.reactor.advance(0)
        if connection.connected:
            connection.connectionLost(Failure(ConnectionDone()))
        self.assertEqual(self.handler.events, ["opened", "closed"])
