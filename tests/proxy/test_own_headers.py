"""No header between the proxy and its clients reaches a server, whichever way it comes in."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from trafficmock.proxy.http1 import attached_clients

OURS = b"".join(b"%s: secret\r\n" % name.title() for name in sorted(attached_clients.HEADERS))
CREDENTIALS = b"Proxy-Authorization: Basic c2hvcDp0b2tlbg==\r\n"
AGENT = b"Trafficmock-Agent: python; pid=7\r\n"
CONNECT = b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test:80\r\n%s%s\r\n" % (AGENT, CREDENTIALS)
UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: %s\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
)
METHODS = st.text("ABab-_!~9", min_size=1, max_size=64).map(str.encode)


def request(target: bytes, method: bytes = b"GET", more: bytes = b"") -> bytes:
    head = b"%s %s HTTP/1.1\r\nHost: api.test\r\n" % (method, target)
    return b"".join([head, OURS, CREDENTIALS, more, b"\r\n"])


class Authority:
    """The certificate of the authority alone."""

    def ca_pem(self) -> bytes:
        return b"-----BEGIN CERTIFICATE-----\nREVS\n-----END CERTIFICATE-----\n"


class LeavingTests(SynchronousTestCase):
    """Requests of each kind, in the bytes that the server reads."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness(certificates=Authority())

    def client(self, *pieces: bytes) -> FakeTransport:
        client = self.harness.connect()
        for piece in pieces:
            if client.protocol is not None:
                client.sends(piece)
        return client

    def sent(self) -> bytes:
        """Return what all servers have read."""
        return b"".join(server.took() for server in self.harness.servers).lower()

    def check(self, *pieces: bytes, is_sent: bool = True) -> None:
        self.client(*pieces)
        sent = self.sent()
        self.assertEqual(bool(sent), is_sent, pieces)
        for text in (b"trafficmock-", b"secret", b"c2hvcdp0b2tlbg"):
            self.assertNotIn(text, sent)

    def test_absolute(self) -> None:
        """A request in absolute form, of any program."""
        self.check(request(b"http://api.test/x"))

    def test_tunnel(self) -> None:
        """A request in a tunnel, with a body, and a second one."""
        self.check(
            CONNECT, request(b"/x"), request(b"/x", b"POST", b"Content-Length: 1\r\n") + b"a"
        )

    def test_listed(self) -> None:
        """A header that ``Connection`` lists, or that is repeated."""
        more = b"Connection: trafficmock-context, keep-alive\r\nTRAFFICMOCK-Context: secret\r\n"
        self.check(CONNECT, request(b"/x", more=more))

    def test_websocket(self) -> None:
        """The handshake of a WebSocket."""
        self.check(CONNECT, request(b"/x", more=UPGRADE % b"websocket"))

    def test_upgrade(self) -> None:
        """An upgrade to another protocol, which is not made."""
        self.check(CONNECT, request(b"/x", more=UPGRADE % b"h2c"))

    def test_slow(self) -> None:
        """A request that comes in pieces, with a pause after the first."""
        client = self.client(CONNECT)
        client.sends(b"G")
        self.harness.core.clock.advance(1)
        client.sends(request(b"/x")[1:])
        self.assertNotIn(b"trafficmock-", self.sent())

    def test_server_first(self) -> None:
        """A request behind a pause in which a server might have spoken."""
        client = self.client(CONNECT)
        self.harness.core.clock.advance(1)
        self.assertEqual(self.harness.servers, [])
        client.sends(request(b"/x"))
        self.assertNotIn(b"trafficmock-", self.sent())

    def test_malformed(self) -> None:
        """What no parser reads is refused."""
        for line in (b'"odd" /x HTTP/1.1', b" /x HTTP/1.1", b"A B C D", b"\x00\x01", b"GET /x"):
            self.check(CONNECT, line + b"\r\n" + OURS + b"\r\n", is_sent=False)

    @given(METHODS)
    def test_any_method(self, method: bytes) -> None:
        """A method is any token."""
        self.check(CONNECT, request(b"/x", method))
        self.harness = ForwardProxyHarness(certificates=Authority())
