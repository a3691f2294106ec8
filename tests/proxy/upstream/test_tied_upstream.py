"""The server of a tunnel has one connection for one of the client's."""

from typing import Any

from twisted.internet.error import ConnectionLost
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.tied_upstream import RESET_SECONDS, TiedUpstream

PLAIN = b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class KeepTests(SynchronousTestCase):
    """Connections between requests."""

    def test_other_origins(self) -> None:
        """A request that a test sends elsewhere uses the pool."""
        harness = ForwardProxyHarness()
        pool: Any = harness.resources.pool
        here, there = Origin("http", "a.test", 80), Origin("http", "b.test", 80)
        tied = TiedUpstream(pool, here, lambda _: None)
        connection = self.successResultOf(pool.connect(there))
        tied.give_back(there, connection)
        self.assertIsNone(tied.take(here, repeatable=True))
        self.assertIs(tied.take(there, repeatable=True), connection)


class TiedTests(SynchronousTestCase):
    """Requests within a tunnel."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()

    def asked(self, client: FakeTransport, more: bytes = b"Trafficmock-Context: \r\n") -> None:
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n%s\r\n" % more)

    def tunnel(self) -> FakeTransport:
        client = self.harness.ask(PLAIN)
        client.took()
        self.asked(client)
        return client

    def test_same(self) -> None:
        """A reused connection is the same one; a new one is new."""
        client, _ = self.tunnel(), self.tunnel()
        self.harness.servers[0].sends(OK)
        self.harness.core.clock.advance(30)
        self.asked(client)
        self.assertEqual(len(self.harness.servers), 2)
        self.harness.servers[0].sends(OK)
        client.lose()
        self.assertTrue(self.harness.servers[0].disconnecting)

    def test_idle(self) -> None:
        """What the server closes between two requests is closed to the client."""
        client = self.tunnel()
        self.harness.servers[0].sends(OK)
        self.harness.servers[0].lose()
        self.assertTrue(client.disconnecting)

    def test_idle_reset(self) -> None:
        """What it resets is reset, unless the client may not have read the answer yet."""
        for seconds, is_reset in ((0.0, False), (RESET_SECONDS, True)):
            self.setUp()
            client = self.tunnel()
            self.harness.servers[0].sends(OK)
            self.harness.core.clock.advance(seconds)
            self.harness.servers[0].lose(ConnectionLost())
            self.assertEqual((client.aborted, client.disconnecting), (is_reset, not is_reset))

    def test_close(self) -> None:
        """A server that ends the connection with its answer does so to the client."""
        client = self.tunnel()
        self.harness.servers[0].sends(OK.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"))
        self.assertIn(b"connection: close", client.took())
        self.assertTrue(client.disconnecting)

    def test_fin(self) -> None:
        """A FIN without an answer is one to an attached process; nothing is sent again."""
        client = self.tunnel()
        self.harness.servers[0].sends(OK)
        client.took()
        self.asked(client)
        self.harness.servers[0].lose()
        self.assertEqual((client.took(), client.disconnecting, client.aborted), (b"", True, False))
        self.assertEqual(len(self.harness.servers), 1)

    def test_reset(self) -> None:
        """A reset is a reset."""
        client = self.tunnel()
        self.harness.servers[0].lose(ConnectionLost())
        self.assertEqual((client.took(), client.aborted), (b"", True))

    def test_not_attached(self) -> None:
        """Other clients get an answer that says why."""
        client = self.harness.ask(PLAIN)
        self.asked(client, b"")
        self.harness.servers[0].lose()
        self.assertIn(b"upstream_closed", client.took())
