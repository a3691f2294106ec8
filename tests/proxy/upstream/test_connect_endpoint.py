"""Connections through another proxy."""

from typing import Any

from twisted.internet import error as network
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeDialer, FakeEndpoint
from trafficmock.proxy.upstream.connect_endpoint import ConnectEndpoint
from trafficmock.proxy.upstream_errors import UpstreamError


class Inner(Protocol):
    """Keeps what it reads."""

    read = b""
    lost = False

    def dataReceived(self, data: bytes) -> None:
        self.read += data

    def connectionLost(self, reason: Any = None) -> None:  # noqa: ARG002 - Twisted's signature
        self.lost = True


class ThroughTests(SynchronousTestCase):
    """CONNECT, from the other side."""

    def setUp(self) -> None:
        self.dialer, self.clock = FakeDialer(), Clock()

    def connect(self, credentials: bytes | None = None) -> Deferred[Any]:
        endpoint: Any = FakeEndpoint(self.dialer, "proxy")
        through = ConnectEndpoint(endpoint, "a.test", 443, credentials, self.clock, 5.0)
        connecting = through.connect(Factory.forProtocol(Inner))
        for server in self.dialer.servers:
            server.protocol = server.opened
        return connecting

    def test_let_through(self) -> None:
        """After 200 the connection is the host's, with what came behind."""
        connecting = self.connect(b"Basic x")
        (proxy,) = self.dialer.servers
        self.assertEqual(
            proxy.took(),
            b"CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n"
            b"proxy-authorization: Basic x\r\n\r\n",
        )
        proxy.sends(b"HTTP/1.1 200 ")
        self.assertNoResult(connecting)
        proxy.sends(b"Fine\r\n\r\nab")
        inner = self.successResultOf(connecting)
        proxy.sends(b"cd")
        proxy.lose()
        self.assertEqual((inner.read, inner.lost), (b"abcd", True))
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_not_let_through(self) -> None:
        """Whatever else it says is an error that names the proxy."""
        for message, words in (
            (b"HTTP/1.1 407 Who?\r\n\r\n", "407 Who?"),
            (b"nonsense\r\n\r\n", "status line"),
            (b"x" * 70_000, "no end"),
            (None, "closed"),
        ):
            connecting = self.connect()
            proxy = self.dialer.servers.pop()
            if message is None:
                proxy.lose()
            else:
                proxy.sends(message)
            error = self.failureResultOf(connecting, UpstreamError).value
            self.assertIn("--upstream-proxy", error.text)
            self.assertIn(words, error.text)
            self.assertEqual(error.errno, "ECONNRESET" if message is None else None)

    def test_slow(self) -> None:
        """It has its time."""
        connecting = self.connect()
        self.clock.advance(5)
        error = self.failureResultOf(connecting, UpstreamError).value
        self.assertEqual(error.errno, "ETIMEDOUT")

    def test_not_there(self) -> None:
        """A proxy that is not there is what it is."""
        self.dialer.error = network.ConnectionRefusedError()
        self.failureResultOf(self.connect(), network.ConnectionRefusedError)

    def test_given_up(self) -> None:
        """Cancelling cuts the connection."""
        connecting = self.connect()
        connecting.cancel()
        self.failureResultOf(connecting)
        self.assertTrue(self.dialer.servers[0].aborted)
        self.assertEqual(self.clock.getDelayedCalls(), [])
