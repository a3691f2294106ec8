"""What all connections share."""

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness
from trafficmock.http.hosts import Authority
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.http1.framing import NONE
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.dialer import UpstreamProxy

A = Origin("http", "a.test", 80)


class SharedTests(SynchronousTestCase):
    """The proxy before a server, and hosts that are left alone."""

    def test_request_head(self) -> None:
        """A proxy is asked for the whole URL, with its credentials."""
        harness = ForwardProxyHarness()
        for proxy, path, begin in (
            (None, b"/x", b"GET /x HTTP/1.1\r\nhost: a.test\r\nvia: "),
            (
                UpstreamProxy("p", 1, b"Basic x"),
                b"/x",
                b"GET http://a.test/x HTTP/1.1\r\nhost: a.test\r\nProxy-Authorization: Basic x\r\n",
            ),
            (
                UpstreamProxy("p", 1),
                b"*",
                b"GET http://a.test HTTP/1.1\r\nhost: a.test\r\nvia: ",
            ),
        ):
            harness.dialer.proxy = proxy
            head = harness.resources.request_head(b"GET", A, path, [], NONE)
            self.assertTrue(head.startswith(begin), head)

    def test_tunnels(self) -> None:
        """Hosts whose TLS is left alone are named by globs."""
        settings = ProxySettings(tunnels=(read_host_pattern("*.bank.test"),))
        self.assertTrue(settings.is_tunnelled(Authority("a.bank.test", 443)))
        self.assertFalse(settings.is_tunnelled(Authority("a.test", 443)))
