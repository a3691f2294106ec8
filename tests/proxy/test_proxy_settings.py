"""What all connections share."""

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness
from trafficmock.http.hosts import Authority
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.dialer import UpstreamProxy

A = Origin("http", "a.test", 80)


class SharedTests(SynchronousTestCase):
    """The proxy before a server, and hosts that are left alone."""

    def test_aim(self) -> None:
        """A proxy is asked for the whole URL, with its credentials."""
        harness = ForwardProxyHarness()
        self.assertEqual(harness.resources.aim(A, b"/x", []), (b"/x", []))
        harness.dialer.proxy = UpstreamProxy("p", 1, b"Basic x")
        path, pairs = harness.resources.aim(A, b"/x", [])
        self.assertEqual(
            (path, pairs), (b"http://a.test/x", [(b"Proxy-Authorization", b"Basic x")])
        )
        harness.dialer.proxy = UpstreamProxy("p", 1)
        self.assertEqual(harness.resources.aim(A, b"*", []), (b"http://a.test", []))

    def test_tunnels(self) -> None:
        """Hosts whose TLS is left alone are named by globs."""
        settings = ProxySettings(tunnels=(read_host_pattern("*.bank.test"),))
        self.assertTrue(settings.is_tunnelled(Authority("a.bank.test", 443)))
        self.assertFalse(settings.is_tunnelled(Authority("a.test", 443)))
