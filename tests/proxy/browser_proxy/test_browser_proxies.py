"""Browser proxies of tests: what comes in by them, and their end."""

from twisted.internet.error import CannotListenError
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.browser_proxy.harness import CONTEXT, MEMBER, TRACE, BrowserProxyHarness
from tests.proxy.websocket.harness import OPEN
from trafficmock.proxy.browser_proxy import browser_proxies
from trafficmock.proxy.browser_proxy.browser_proxies import BrowserProxyError
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.wire.payloads.application_origins import ApplicationOrigins

GET = b"GET http://localhost:3000/x HTTP/1.1\r\nHost: x\r\n\r\n"


class BrowserProxyTests(SynchronousTestCase):
    """One browser proxy."""

    def setUp(self) -> None:
        self.rig = BrowserProxyHarness()
        self.port = self.rig.open()

    def sent(self) -> bytes:
        return self.rig.dialer.servers[-1].took()

    def test_application(self) -> None:
        """Requests for the application carry the context, as baggage and as a trace."""
        self.rig.ask(GET)
        sent = self.sent()
        self.assertIn(MEMBER, sent)
        self.assertIn(TRACE, sent)

    def test_third_party(self) -> None:
        """Others do not, not even when a page says it itself."""
        cookie = b"\r\nCookie: trafficmock_test=x\r\nBaggage: trafficmock.test=x\r\n\r\n"
        self.rig.ask(GET.replace(b"localhost:3000", b"third.test").replace(b"\r\n\r\n", cookie))
        self.assertNotIn(b"trafficmock", self.sent().replace(b"via: 1.1 trafficmock", b""))

    def test_behind_connect(self) -> None:
        """Plain HTTP behind CONNECT is read: Playwright's own requests come so."""
        client = self.rig.ask(b"CONNECT localhost:3000 HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertIn(b" 200 ", client.took())
        client.sends(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertIn(MEMBER, self.sent())

    def test_tls(self) -> None:
        """TLS is carried unread."""
        client = self.rig.ask(b"CONNECT localhost:3000 HTTP/1.1\r\nHost: x\r\n\r\n")
        client.sends(b"\x16\x03\x01hello")
        self.assertEqual(self.sent(), b"\x16\x03\x01hello")

    def test_websocket(self) -> None:
        """The handshake of a WebSocket carries it."""
        self.rig.ask(OPEN.replace(b"api.test", b"localhost"))
        self.assertIn(MEMBER, self.sent())

    def test_origin_form(self) -> None:
        """A page that has rebound its name to us gets nothing, nor does our own address."""
        for data in (
            b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
            b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % self.port,
        ):
            client = self.rig.ask(data)
            self.assertIn(b" 421 ", client.took())
            self.assertTrue(client.disconnecting)
            client.lose()
        self.assertEqual((self.rig.dialer.asked, self.rig.count.open), ([], 0))

    def test_token(self) -> None:
        """With a token it asks for it."""
        self.rig.settings = ProxySettings(opens_tls=False, token="s3cret")
        self.rig.open()
        self.assertIn(b" 407 ", self.rig.ask(GET).took())
        credentials = b"\r\nProxy-Authorization: Basic eDpzM2NyZXQ=\r\n\r\n"
        self.rig.ask(GET.replace(b"\r\n\r\n", credentials))
        self.assertIn(MEMBER, self.sent())

    def test_closed(self) -> None:
        """With the test the port and all connections end, those to servers too."""
        idle, busy = self.rig.ask(b"GET"), self.rig.ask(GET)
        self.rig.browser_proxies.close("t")
        self.assertFalse(self.rig.ports[0].open)
        self.assertTrue(idle.aborted)
        self.assertTrue(busy.aborted)
        self.assertTrue(self.rig.dialer.servers[0].aborted)
        # The reactor may accept one more in this turn.
        self.assertIsNone(self.rig.ports[0].factory.buildProtocol(None))
        self.assertEqual(self.rig.count.open, 0)
        self.rig.browser_proxies.close("t")

    def test_opened_again(self) -> None:
        """A test that registers again gets another browser proxy in place of its first."""
        self.rig.open()
        self.assertEqual([port.open for port in self.rig.ports], [False, True])
        self.rig.browser_proxies.stop()
        self.assertEqual([port.open for port in self.rig.ports], [False, False])

    def test_counted(self) -> None:
        """Connections of browser proxies count among all connections."""
        clients = [self.rig.ask(b"GET") for _ in range(3)]
        self.assertIsNone(self.rig.ports[0].factory.buildProtocol(None))
        clients[0].lose()
        self.assertIsNotNone(self.rig.ports[0].factory.buildProtocol(None))

    def test_no_port(self) -> None:
        """Where nobody can listen nothing is left behind."""
        # As Twisted's reactors do it.
        reason = OSError(24, "Too many open files")
        self.rig.error = CannotListenError("127.0.0.1", 0, reason)
        with self.assertRaisesRegex(BrowserProxyError, "Too many open files"):
            self.rig.open()
        self.rig.browser_proxies.stop()

    def test_most(self) -> None:
        """Only so many tests have one at a time; a test that opens its own again has one."""
        self.patch(browser_proxies, "MOST_BROWSER_PROXIES", 1)
        self.rig.open()
        with self.assertRaisesRegex(BrowserProxyError, "1 tests have such a port, the most"):
            self.rig.browser_proxies.open(
                "another", CONTEXT, ApplicationOrigins(), self.rig.untagged.append
            )
        self.rig.browser_proxies.close("t")
        self.rig.browser_proxies.open(
            "another", CONTEXT, ApplicationOrigins(), self.rig.untagged.append
        )
