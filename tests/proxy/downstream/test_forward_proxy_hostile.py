"""Requests of clients that are not HTTP, or have no possible target."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness

ASK = b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"


class LineTests(SynchronousTestCase):
    """A request line is not waited for without a bound."""

    def test_long(self) -> None:
        """A request line without an end is refused above the limit of a head."""
        harness = ForwardProxyHarness()
        service: Any = None
        transport = harness.attach(harness.proxy.sniffer(service, lambda: None))
        transport.sends(b"GET http://api.test/" + b"a" * 100_000)
        self.assertIn(b" 431 ", transport.took())


class HeadTests(SynchronousTestCase):
    """One meaning, or a 400."""

    def test_refused(self) -> None:
        """An invalid host, white space in a target, and IPv4 in brackets are refused."""
        for head in (
            b"GET http://api.test/ HTTP/1.1\r\nHost: a b\r\n\r\n",
            b"GET http://api.test/ HTTP/1.1\r\nHost: user@api.test\r\n\r\n",
            b"GET http://api.test/a\tb HTTP/1.1\r\nHost: api.test\r\n\r\n",
            b"GET http://[127.0.0.1]/ HTTP/1.1\r\nHost: api.test\r\n\r\n",
        ):
            harness = ForwardProxyHarness()
            self.assertIn(b" 400 ", harness.ask(head).took(), head)
            self.assertEqual(harness.servers, [])


class ConnectTests(SynchronousTestCase):
    """What comes with a CONNECT."""

    def test_early(self) -> None:
        """A request that came along with its CONNECT is not left lying."""
        harness = ForwardProxyHarness()
        harness.ask(b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test:80\r\n\r\n" + ASK)
        self.assertTrue(harness.servers[0].took().startswith(b"GET /x HTTP/1.1\r\n"))

    def test_ourselves(self) -> None:
        """CONNECT to this very service is refused."""
        client = ForwardProxyHarness().ask(
            b"CONNECT 127.0.0.1:4310 HTTP/1.1\r\nHost: 127.0.0.1:4310\r\n\r\n"
        )
        self.assertIn(b'"error":"loop_detected"', client.took())
