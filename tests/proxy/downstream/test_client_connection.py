"""A client's connection: requests in turn, and how it ends."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, FakeTransport, ForwardProxyHarness
from trafficmock.proxy.proxy_settings import ProxySettings

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
POST = b"POST http://api.test/ HTTP/1.1\r\nHost: api.test\r\n"


def status(client: FakeTransport) -> bytes:
    return client.took()[9:12]


class TurnTests(SynchronousTestCase):
    """One request after the other."""

    def test_pipelined(self) -> None:
        """Requests that come together are sent on one at a time, and answered in order."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET * 3)
        for left in (2, 1, 0):
            self.assertEqual(harness.servers[0].took().count(b"GET"), 1)
            harness.servers[0].sends(OK)
            self.assertEqual(client.took().count(b"200 OK"), 1, left)

    def test_byte_by_byte(self) -> None:
        """A request may arrive in any pieces."""
        harness = ForwardProxyHarness()
        client = harness.connect()
        for place in range(len(GET)):
            client.sends(GET[place : place + 1])
        self.assertEqual(len(harness.servers), 1)

    def test_too_far_ahead(self) -> None:
        """Who sends far ahead of the answers is not read until they come."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET + b"x" * 70_000)
        self.assertTrue(client.paused)

    def test_close(self) -> None:
        """Connection: close is honoured when the answer is out."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        harness.servers[0].sends(OK)
        self.assertIn(b"connection: close\r\n", client.took())
        self.assertTrue(client.disconnecting)

    def test_half_closed(self) -> None:
        """Who closes its direction gets its answer first, unless its request is not complete."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        client.protocol.readConnectionLost()
        self.assertFalse(client.disconnecting)
        harness.servers[0].sends(OK)
        self.assertTrue(client.disconnecting)
        early = harness.ask(POST + b"Content-Length: 9\r\n\r\n")
        early.protocol.readConnectionLost()
        self.assertTrue(early.aborted)

    def test_gone_or_half_closed(self) -> None:
        """Who closes its direction and gets nothing for a second is gone; who gets some is not."""
        harness = ForwardProxyHarness()
        gone, lives = harness.ask(GET), harness.ask(GET)
        for client in (gone, lives):
            client.protocol.readConnectionLost()
        harness.servers[1].sends(b"HTTP/1.1 200 OK\r\n\r\n")
        harness.core.clock.advance(1)
        self.assertEqual((gone.aborted, lives.aborted), (True, False))
        self.assertTrue(harness.servers[0].aborted)
        harness.servers[1].sends(b"more")
        harness.core.clock.advance(1)
        self.assertFalse(lives.aborted)
        harness.core.clock.advance(1)
        self.assertTrue(lives.aborted)

    def test_party_left(self) -> None:
        """The end of a connection is counted, once."""
        harness = ForwardProxyHarness()
        harness.ask(GET).lose()
        self.assertEqual(harness.ended, 1)


class RefusedTests(SynchronousTestCase):
    """What is not HTTP/1.1 as it should be."""

    def test_bad(self) -> None:
        """A clear 400, then nothing more is read and the connection ends."""
        for request in (
            b"GET http://api.test/ HTTP/1.1\nHost: api.test\n\n",
            b"GET http://api.test/ HTTP/1.1\r\n\r\n",
            b"GET http://api.test/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
            POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            POST + b"Transfer-Encoding: chunked\r\n\r\nx\r\n",
        ):
            harness = ForwardProxyHarness()
            client = harness.ask(request)
            self.assertEqual(status(client), b"400", request)
            client.sends(GET)
            harness.core.clock.advance(2)
            self.assertEqual((client.took(), client.aborted), (b"", True))

    def test_head_too_large(self) -> None:
        """431 names the option."""
        harness = ForwardProxyHarness(ProxySettings(max_header_bytes=1024))
        client = harness.ask(b"GET http://api.test/ HTTP/1.1\r\nX: " + b"y" * 1100)
        self.assertIn(b"--max-header-bytes", client.took())

    def test_broken_upload(self) -> None:
        """A body that breaks the rules halfway ends the request to the server too."""
        harness = ForwardProxyHarness()
        client = harness.ask(POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        client.sends(b"zz\r\n")
        self.assertEqual(status(client), b"400")
        self.assertTrue(harness.servers[0].aborted)

    def test_slow(self) -> None:
        """A request that does not come to its end is 408; silence just ends."""
        harness = ForwardProxyHarness()
        slow, silent = harness.ask(b"GET http"), harness.connect()
        harness.core.clock.advance(60)
        self.assertEqual(status(slow), b"408")
        self.assertEqual((silent.took(), silent.disconnecting), (b"", True))

    def test_slow_body(self) -> None:
        """A body that stops coming is 408; one that is held back by the server is not."""
        harness = ForwardProxyHarness()
        slow = harness.ask(POST + b"Content-Length: 9\r\n\r\n1")
        held = harness.ask(POST + b"Content-Length: 9\r\n\r\n1")
        harness.servers[1].producer.pauseProducing()
        harness.core.clock.advance(59)
        slow.sends(b"2")
        harness.core.clock.advance(1)
        self.assertEqual(slow.took(), b"")
        harness.core.clock.advance(60)
        self.assertEqual((status(slow), held.took()), (b"408", b""))
        self.assertTrue(harness.servers[0].aborted)

    @given(st.binary(max_size=80))
    def test_any_input(self, data: bytes) -> None:
        """No bytes make anything but an answer or silence; nothing is logged."""
        client = ForwardProxyHarness().ask(data)
        written = client.took()
        self.assertTrue(written == b"" or written.startswith(b"HTTP/1.1 4"), written)
        self.assertEqual(self.flushLoggedErrors(), [])
