"""Tunnels, and their rows in the history."""

from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionLost
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness, refused
from trafficmock.http.hosts import Authority
from trafficmock.proxy.tunnel import Tunnel
from trafficmock.proxy.tunnel_record import TunnelRecord, server_name
from trafficmock.proxy.upstream.tied_upstream import RESET_SECONDS
from trafficmock.proxy.upstream_errors import UpstreamError


class TunnelTests(SynchronousTestCase):
    """Both ends."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        self.client = FakeTransport()
        proxy_client = self.harness.resources.proxy_clients.enter("shop")
        self.spoke: list[str] = []
        self.tunnel = Tunnel(
            self.client,
            self.harness.resources,
            Authority("db.test", 1),
            entry=lambda: TunnelRecord(proxy_client, "db.test:1", {}),
            server_spoke=lambda: self.spoke.append("spoke"),
        )

    def test_pace(self) -> None:
        """Each side is held back by the other, and nothing is read before both are there."""
        self.harness.dialer.slow = []
        self.tunnel.carry_blindly(b"a")
        self.assertTrue(self.client.paused)
        self.assertEqual(self.harness.servers, [])

    def test_joined(self) -> None:
        """Each is the other's producer."""
        self.tunnel.carry_blindly(b"a")
        (server,) = self.harness.servers
        self.assertIs(server.producer, self.client)
        self.assertIs(self.client.producer, server)

    def test_half_closed(self) -> None:
        """The end of one direction is passed on, the other goes on."""
        self.tunnel.carry_blindly(b"a")
        (server,) = self.harness.servers
        server.protocol.readConnectionLost()
        self.assertTrue(self.client.half_closed)
        self.assertFalse(self.client.disconnecting or server.disconnecting)

    def test_half_closed_by_client(self) -> None:
        """The end of the client's direction is passed on, the server's goes on."""
        self.tunnel.carry_blindly(b"a")
        (server,) = self.harness.servers
        self.tunnel.client_done()
        self.assertTrue(server.half_closed)
        self.assertFalse(self.client.disconnecting or server.disconnecting)

    def test_closed_by_halves(self) -> None:
        """When both directions are closed, whichever was first, both connections end."""
        for first, second in (("client", "server"), ("server", "client")):
            self.setUp()
            self.tunnel.carry_blindly(b"a")
            (server,) = self.harness.servers
            for side in (first, second):
                if side == "client":
                    self.tunnel.client_done()
                else:
                    server.protocol.readConnectionLost()
            self.assertTrue(self.client.disconnecting, first)
            self.assertTrue(server.disconnecting, first)
            self.assertIsNone(self.client.producer)
            self.assertIsNone(server.producer)
            self.assertEqual(self.harness.events()[-1][0], "response")

    def test_server_done_early(self) -> None:
        """A server that closed its direction before the tunnel was blind is not forgotten."""
        self.tunnel.open()
        self.harness.servers[0].protocol.readConnectionLost()
        self.assertFalse(self.client.half_closed)
        self.tunnel.carry_blindly(b"a")
        self.assertTrue(self.client.half_closed)

    def test_server_ends(self) -> None:
        """When the server goes, what it said still reaches the client."""
        self.tunnel.carry_blindly(b"a")
        self.harness.servers[0].sends(b"bye")
        self.harness.servers[0].lose()
        self.assertEqual((self.client.took(), self.client.disconnecting), (b"bye", True))
        self.assertIsNone(self.client.producer)

    def test_server_resets(self) -> None:
        """A reset is one to the client, once it can have read what came before."""
        self.tunnel.carry_blindly(b"a")
        self.harness.servers[0].sends(b"bye")
        self.harness.servers[0].lose(ConnectionLost())
        self.assertEqual((self.client.took(), self.client.aborted), (b"bye", False))
        self.harness.core.clock.advance(RESET_SECONDS)
        self.assertEqual((self.client.aborted, self.client.disconnecting), (True, False))

    def test_late_data(self) -> None:
        """What the client sends behind the end of the server is not kept."""
        self.tunnel.carry_blindly(b"a")
        self.harness.servers[0].lose()
        self.tunnel.from_client(b"b")
        self.assertEqual(self.tunnel._waiting, [])

    def test_no_server(self) -> None:
        """A server that is not there ends the client's side, and the row says why."""
        self.harness.dialer.error = refused()
        self.tunnel.carry_blindly(b"a")
        self.assertTrue(self.client.aborted)
        self.assertEqual(
            self.harness.events()[-1], ("upstream_error", "db.test: it refused the connection.")
        )

    def test_loop(self) -> None:
        """A tunnel to the service itself is not opened."""
        self.harness.dialer.peer = IPv4Address("TCP", "127.0.0.1", 4310)
        self.tunnel.carry_blindly(b"a")
        self.assertTrue(self.client.aborted)

    def test_spoke(self) -> None:
        """A server that speaks before anybody knows what the client speaks is told of."""
        self.tunnel.open()
        self.harness.servers[0].sends(b"220")
        self.assertEqual((self.spoke, self.client.took()), (["spoke"], b"220"))


class TunnelRecordTests(SynchronousTestCase):
    """One row for one tunnel."""

    def test_server(self) -> None:
        """Its URL names the server, an IPv6 address in brackets."""
        self.assertEqual(server_name(Authority("db.test", 1)), "db.test:1")
        self.assertEqual(server_name(Authority("::1", 443)), "[::1]:443")

    def test_ended_once(self) -> None:
        """Both sides tell of the end; the first is right."""
        for first, outcome in (
            (None, ("response", "200 Connection established")),
            (UpstreamError("It went.", code="disconnected"), ("upstream_error", "It went.")),
        ):
            harness = ForwardProxyHarness()
            record = TunnelRecord(harness.resources.proxy_clients.enter("shop"), "db.test:1", {})
            record.ended(first)
            record.ended(UpstreamError("too late", code="disconnected"))
            record.ended()
            kinds = ["observed", "passthrough", outcome[0]]
            self.assertEqual([event[0] for event in harness.events()], kinds)
            self.assertEqual(harness.events()[-1], outcome)
