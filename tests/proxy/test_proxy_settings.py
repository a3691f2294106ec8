"""What all connections share."""

from twisted.internet.address import IPv4Address
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import OURS, FakeTransport, ForwardProxyHarness
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.dialer import UpstreamProxy

A = Origin("http", "a.test", 80)


class SharedTests(SynchronousTestCase):
    """Loops, and the proxy before a server."""

    def test_ourselves(self) -> None:
        """A connection that ends at our own address and port is a loop."""
        context = ForwardProxyHarness().context
        for host, port, loop in (
            ("127.0.0.1", 4310, True),
            ("127.0.0.1", 4311, False),
            ("192.0.2.1", 4310, False),
        ):
            upstream = FakeTransport(peer=IPv4Address("TCP", host, port))
            self.assertEqual(context.is_ourselves(upstream, OURS), loop, (host, port))

    def test_everywhere(self) -> None:
        """Bound to all interfaces we are at every address of this machine."""
        context = ForwardProxyHarness().context
        context.bound_everywhere = True
        address = IPv4Address("TCP", "192.0.2.5", 4310)
        self.assertTrue(context.is_ourselves(FakeTransport(address, address), OURS))

    def test_aim(self) -> None:
        """A proxy is asked for the whole URL, with its credentials."""
        rig = ForwardProxyHarness()
        self.assertEqual(rig.context.aim(A, b"/x", []), (b"/x", []))
        rig.dialer.proxy = UpstreamProxy("p", 1, b"Basic x")
        path, pairs = rig.context.aim(A, b"/x", [])
        self.assertEqual(
            (path, pairs), (b"http://a.test/x", [(b"Proxy-Authorization", b"Basic x")])
        )
        rig.dialer.proxy = UpstreamProxy("p", 1)
        self.assertEqual(rig.context.aim(A, b"*", []), (b"http://a.test", []))

    def test_tunnels(self) -> None:
        """Hosts whose TLS is left alone are named by globs."""
        settings = ProxySettings(tunnels=("*.bank.test",))
        self.assertTrue(settings.is_tunnelled("a.bank.test"))
        self.assertFalse(settings.is_tunnelled("a.test"))
