"""Requests through a browser proxy, which no coordinator hears of."""

import gc

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.browser_proxy.harness import BrowserProxyHarness
from tests.proxy.websocket.harness import OPEN
from trafficmock.proxy.transfer.body_capture import BodyCapture
from trafficmock.proxy.websocket.opening_handshake import acceptance

GET = b"GET http://api.test/x HTTP/1.1\r\nHost: x\r\n\r\n"
BODY = b"0123456789" * 1234 + b"."


class PassingTests(SynchronousTestCase):
    """Everything passes through."""

    def setUp(self) -> None:
        self.rig = BrowserProxyHarness()
        self.rig.open()

    def test_requests(self) -> None:
        """Requests go there and back over one connection."""
        client = self.rig.ask(GET)
        for _ in range(3):
            (server,) = self.rig.dialer.servers
            self.assertTrue(server.took().startswith(b"GET /x HTTP/1.1\r\nhost: api.test\r\n"))
            server.sends(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY))
            self.assertTrue(client.took().endswith(BODY))
            client.sends(GET)

    def test_streamed(self) -> None:
        """Bodies stream, and no copy of them is kept."""
        self.rig.ask(GET)
        (server,) = self.rig.dialer.servers
        server.sends(b"HTTP/1.1 200 OK\r\n\r\n" + BODY)
        # Not isinstance, which asks weak proxies for the class of what they stand for.
        self.assertEqual(
            [e for e in gc.get_objects() if type(e) is BodyCapture and e.size == len(BODY)], []
        )

    def test_websocket(self) -> None:
        """WebSockets are relayed."""
        client = self.rig.ask(OPEN)
        (server,) = self.rig.dialer.servers
        server.took()
        server.sends(acceptance(b"x", "b") + b"from server")
        self.assertTrue(client.took().endswith(b"from server"))
        client.sends(b"from page")
        self.assertEqual(server.took(), b"from page")

    def test_unreachable(self) -> None:
        """Where there is no server the page sees the connection fail, as without the proxy."""
        self.rig.dialer.error = OSError("no way")
        client = self.rig.ask(GET)
        self.assertEqual(client.took(), b"")
        self.assertTrue(client.aborted)
