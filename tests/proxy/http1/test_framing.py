"""How long a body is."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1 import framing
from trafficmock.proxy.http1.framing import CHUNKED, NONE, UNTIL_CLOSE, BodyKind, Framing
from trafficmock.proxy.http1.heads import BadMessageError, parse_request, parse_response

POST = b"POST / HTTP/1.1\r\n"


class RequestTests(SynchronousTestCase):
    """Requests (RFC 9112 section 6.3)."""

    def test_told(self) -> None:
        """Length, chunks, or nothing."""
        for lines, expected in (
            (b"A: b", NONE),
            (b"Content-Length: 0", NONE),
            (b"Content-Length: 12", Framing(BodyKind.LENGTH, 12)),
            (b"Transfer-Encoding: chunked", CHUNKED),
            (b"Transfer-Encoding: Chunked", CHUNKED),
        ):
            self.assertEqual(framing.of_request(parse_request(POST + lines)), expected, lines)

    def test_smuggling(self) -> None:
        """What two readers could measure differently is refused."""
        for lines in (
            b"Content-Length: 1\r\nTransfer-Encoding: chunked",
            b"Content-Length: 1\r\nContent-Length: 2",
            b"Content-Length: 1\r\nContent-Length: 1",
            b"Content-Length: 1, 1",
            b"Content-Length: +1",
            b"Content-Length: -1",
            b"Content-Length: 0x1",
            b"Content-Length: 1 1",
            b"Content-Length:",
            b"Content-Length: 1e3",
            b"Content-Length: " + b"9" * 19,
            b"Transfer-Encoding: chunked, identity",
            b"Transfer-Encoding: identity",
            b"Transfer-Encoding: xchunked",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            b"Transfer-Encoding: ,chunked",
            b"Transfer-Encoding:",
        ):
            head = parse_request(POST + lines)
            error = self.assertRaises(BadMessageError, framing.of_request, head)
            self.assertEqual(error.status, 400, lines)

    def test_unknown_coding(self) -> None:
        """A coding that is not known is 501, and HTTP/1.0 knows none at all."""
        head = parse_request(POST + b"Transfer-Encoding: gzip, chunked")
        self.assertEqual(self.assertRaises(BadMessageError, framing.of_request, head).status, 501)
        old = parse_request(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked")
        self.assertRaises(BadMessageError, framing.of_request, old)


class ResponseTests(SynchronousTestCase):
    """Responses."""

    def response_framing(self, text: bytes, method: bytes = b"GET") -> Framing:
        return framing.of_response(parse_response(b"HTTP/1.1 " + text), method)

    def test_told(self) -> None:
        """Some have no body whatever they say; the rest says, or ends with the connection."""
        self.assertEqual(
            self.response_framing(b"200 OK\r\nContent-Length: 3"), Framing(BodyKind.LENGTH, 3)
        )
        self.assertEqual(self.response_framing(b"200 OK\r\nTransfer-Encoding: chunked"), CHUNKED)
        self.assertEqual(self.response_framing(b"200 OK"), UNTIL_CLOSE)
        self.assertEqual(self.response_framing(b"200 OK\r\nContent-Length: 3", b"HEAD"), NONE)
        for status in (b"204", b"304", b"100"):
            self.assertEqual(self.response_framing(status + b" x\r\nContent-Length: 3"), NONE)
        self.assertEqual(self.response_framing(b"200 OK", b"CONNECT"), NONE)

    def test_contradiction(self) -> None:
        """An answer with two lengths is invalid; one that says its length twice is not."""
        for text in (
            b"200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: identity",
            b"200 OK\r\nContent-Length: 3\r\nContent-Length: 4",
            b"200 OK\r\nContent-Length: 3,",
        ):
            self.assertRaises(BadMessageError, self.response_framing, text)
        for text in (b"Content-Length: 3\r\ncontent-length: 3", b"Content-Length: 3, 3"):
            found = self.response_framing(b"200 OK\r\n" + text)
            self.assertEqual(found, Framing(BodyKind.LENGTH, 3))

    def test_chunks_count(self) -> None:
        """Chunks count before a length, but the connection is not used again."""
        text = b"200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked"
        self.assertEqual(self.response_framing(text), CHUNKED)
        for given, two in ((text, True), (text[:25], False), (b"200 OK", False)):
            self.assertIs(framing.has_two(parse_response(b"HTTP/1.1 " + given)), two)


class KeepAliveTests(SynchronousTestCase):
    """Whether a connection lasts."""

    def test_default(self) -> None:
        """HTTP/1.1 lasts unless it says close, HTTP/1.0 only when it says keep-alive."""
        for head, lasts in (
            (b"GET / HTTP/1.1", True),
            (b"GET / HTTP/1.1\r\nConnection: a, Close", False),
            (b"GET / HTTP/1.0", False),
            (b"GET / HTTP/1.0\r\nConnection: Keep-Alive", True),
        ):
            self.assertEqual(framing.keeps_alive(parse_request(head)), lasts, head)
