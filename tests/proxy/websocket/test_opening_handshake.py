"""Opening handshakes of WebSockets."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.heads import (
    BadMessageError,
    RequestHead,
    parse_request,
    parse_response,
)
from trafficmock.proxy.websocket import opening_handshake

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The example of RFC 6455 section 1.3."""

OPENING = (
    b"GET /s HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + b"\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: a, b\r\nCookie: c"
)


def opening(change: bytes = b"", to: bytes = b"") -> RequestHead:
    return parse_request(OPENING.replace(change, to) if change else OPENING)


class ClientTests(SynchronousTestCase):
    """What clients ask for."""

    def test_recognised(self) -> None:
        """A GET of HTTP/1.1 that wants to upgrade to a WebSocket, and nothing else."""
        self.assertTrue(opening_handshake.is_opening(opening()))
        for change, to in ((b"GET", b"POST"), (b"1.1", b"1.0"), (b"WebSocket\r", b"h2c\r")):
            self.assertFalse(opening_handshake.is_opening(opening(change, to)), to)

    def test_read(self) -> None:
        """Subprotocols keep their order."""
        self.assertEqual(opening_handshake.read_opening(opening()).protocols, ["a", "b"])

    def test_refused(self) -> None:
        """Another version is 426 and told which; a key must be one."""
        error = self.assertRaises(
            BadMessageError, opening_handshake.read_opening, opening(b"Version: 13", b"Version: 8")
        )
        self.assertEqual((error.status, error.headers[0][1]), (426, b"13"))
        for key in (b"", b"x", b"AAAA", b"%%%"):
            head = opening(KEY, key)
            self.assertRaises(BadMessageError, opening_handshake.read_opening, head)

    def test_answer(self) -> None:
        """The answer proves that the key was read, and names the subprotocol."""
        answer = opening_handshake.acceptance(KEY, "a")
        self.assertIn(b"sec-websocket-accept: " + ACCEPT, answer)
        self.assertIn(b"sec-websocket-protocol: a\r\n", answer)
        self.assertNotIn(b"protocol", opening_handshake.acceptance(KEY, None))


class ServerTests(SynchronousTestCase):
    """Our own handshake with a server."""

    def test_asked(self) -> None:
        """It has the client's header, but no extension."""
        read = opening_handshake.read_opening(opening())
        pairs = dict(opening_handshake.opening_pairs(opening(), b"k", read))
        self.assertEqual((pairs[b"Cookie"], pairs[b"Sec-WebSocket-Key"]), (b"c", b"k"))
        self.assertNotIn(b"Sec-WebSocket-Extensions", pairs)
        self.assertEqual(len(opening_handshake.new_key()), 24)

    def test_relayed(self) -> None:
        """What is passed through is passed on as it is, extensions included."""
        pairs = dict(opening_handshake.relayed_pairs(opening()))
        self.assertEqual(pairs[b"Sec-WebSocket-Extensions"], b"permessage-deflate")
        self.assertEqual(pairs[b"Sec-WebSocket-Key"], KEY)

    def test_accepted(self) -> None:
        """The server must answer our key, and choose from what was offered."""
        good = (
            b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
            b"Sec-WebSocket-Accept: " + ACCEPT
        )
        read = opening_handshake.read_opening(opening())
        chosen = opening_handshake.accepted_protocol(parse_response(good), KEY, read)
        self.assertIsNone(chosen)
        with_b = parse_response(good + b"\r\nSec-WebSocket-Protocol: b")
        self.assertEqual(opening_handshake.accepted_protocol(with_b, KEY, read), "b")
        for bad in (
            b"HTTP/1.1 403 No",
            good.replace(b"101", b"200"),
            good.replace(ACCEPT, b"x"),
            good.replace(b"Upgrade: websocket", b"A: b"),
            good + b"\r\nSec-WebSocket-Protocol: z",
            good + b"\r\nSec-WebSocket-Extensions: permessage-deflate",
        ):
            head = parse_response(bad)
            self.assertRaises(BadMessageError, opening_handshake.accepted_protocol, head, KEY, read)
