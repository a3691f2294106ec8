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
        rig = ForwardProxyHarness()
        client = rig.ask(GET * 3)
        for left in (2, 1, 0):
            self.assertEqual(rig.servers[0].took().count(b"GET"), 1)
            rig.servers[0].says(OK)
            self.assertEqual(client.took().count(b"200 OK"), 1, left)

    def test_byte_by_byte(self) -> None:
        """A request may arrive in any pieces."""
        rig = ForwardProxyHarness()
        client = rig.connect()
        for place in range(len(GET)):
            client.says(GET[place : place + 1])
        self.assertEqual(len(rig.servers), 1)

    def test_too_far_ahead(self) -> None:
        """Who sends far ahead of the answers is not read until they come."""
        rig = ForwardProxyHarness()
        client = rig.ask(GET + b"x" * 70_000)
        self.assertTrue(client.paused)

    def test_close(self) -> None:
        """Connection: close is honoured when the answer is out."""
        rig = ForwardProxyHarness()
        client = rig.ask(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        rig.servers[0].says(OK)
        self.assertIn(b"connection: close\r\n", client.took())
        self.assertTrue(client.disconnecting)

    def test_half_closed(self) -> None:
        """Who closes its direction gets its answer first, unless its request is not complete."""
        rig = ForwardProxyHarness()
        client = rig.ask(GET)
        client.protocol.readConnectionLost()
        self.assertFalse(client.disconnecting)
        rig.servers[0].says(OK)
        self.assertTrue(client.disconnecting)
        early = rig.ask(POST + b"Content-Length: 9\r\n\r\n")
        early.protocol.readConnectionLost()
        self.assertTrue(early.aborted)

    def test_gone_or_half_closed(self) -> None:
        """Who closes its direction and gets nothing for a second is gone; who gets some is not."""
        rig = ForwardProxyHarness()
        gone, lives = rig.ask(GET), rig.ask(GET)
        for client in (gone, lives):
            client.protocol.readConnectionLost()
        rig.servers[1].says(b"HTTP/1.1 200 OK\r\n\r\n")
        rig.core.clock.advance(1)
        self.assertEqual((gone.aborted, lives.aborted), (True, False))
        self.assertTrue(rig.servers[0].aborted)
        rig.servers[1].says(b"more")
        rig.core.clock.advance(1)
        self.assertFalse(lives.aborted)
        rig.core.clock.advance(1)
        self.assertTrue(lives.aborted)

    def test_party_left(self) -> None:
        """The end of a connection is counted, once."""
        rig = ForwardProxyHarness()
        rig.ask(GET).lose()
        self.assertEqual(rig.ended, 1)


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
            rig = ForwardProxyHarness()
            client = rig.ask(request)
            self.assertEqual(status(client), b"400", request)
            client.says(GET)
            rig.core.clock.advance(2)
            self.assertEqual((client.took(), client.aborted), (b"", True))

    def test_head_too_large(self) -> None:
        """431 names the option."""
        rig = ForwardProxyHarness(ProxySettings(max_header_bytes=1024))
        client = rig.ask(b"GET http://api.test/ HTTP/1.1\r\nX: " + b"y" * 1100)
        self.assertIn(b"--max-header-bytes", client.took())

    def test_broken_upload(self) -> None:
        """A body that breaks the rules halfway ends the request to the server too."""
        rig = ForwardProxyHarness()
        client = rig.ask(POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        client.says(b"zz\r\n")
        self.assertEqual(status(client), b"400")
        self.assertTrue(rig.servers[0].aborted)

    def test_slow(self) -> None:
        """A request that does not come to its end is 408; silence just ends."""
        rig = ForwardProxyHarness()
        slow, silent = rig.ask(b"GET http"), rig.connect()
        rig.core.clock.advance(60)
        self.assertEqual(status(slow), b"408")
        self.assertEqual((silent.took(), silent.disconnecting), (b"", True))

    def test_slow_body(self) -> None:
        """A body that stops coming is 408; one that is held back by the server is not."""
        rig = ForwardProxyHarness()
        slow = rig.ask(POST + b"Content-Length: 9\r\n\r\n1")
        held = rig.ask(POST + b"Content-Length: 9\r\n\r\n1")
        rig.servers[1].producer.pauseProducing()
        rig.core.clock.advance(59)
        slow.says(b"2")
        rig.core.clock.advance(1)
        self.assertEqual(slow.took(), b"")
        rig.core.clock.advance(60)
        self.assertEqual((status(slow), held.took()), (b"408", b""))
        self.assertTrue(rig.servers[0].aborted)

    @given(st.binary(max_size=80))
    def test_any_input(self, data: bytes) -> None:
        """No bytes make anything but an answer or silence; nothing is logged."""
        client = ForwardProxyHarness().ask(data)
        written = client.took()
        self.assertTrue(written == b"" or written.startswith(b"HTTP/1.1 4"), written)
        self.assertEqual(self.flushLoggedErrors(), [])
