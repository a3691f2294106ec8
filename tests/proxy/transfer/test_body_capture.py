"""Messages as the core knows them."""

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.heads import parse_response
from trafficmock.proxy.transfer.body_capture import BodyCapture, header_map, request_of, response_of
from trafficmock.wire.payloads import body


def copied(data: bytes, limit: int = 0) -> BodyCapture:
    copy = BodyCapture(limit)
    copy.add(data)
    return copy


class CopyTests(SynchronousTestCase):
    """The beginning of a body."""

    def test_limit(self) -> None:
        """So much is kept, and all is counted."""
        copy = BodyCapture(4)
        for piece in (b"abc", b"def", b"ghi"):
            copy.add(piece)
        self.assertEqual((copy.size, copy.truncated, bytes(copy.take())), (9, True, b"abcd"))

    def test_order(self) -> None:
        """Small pieces and large ones come out in the order in which they came in."""
        pieces = [b"a", b"b" * 5000, b"c", b"d" * 10, b"e" * 4096, b"f"]
        copy = BodyCapture(9110)
        for piece in pieces:
            copy.add(piece)
        self.assertEqual(bytes(copy.take()), b"".join(pieces)[:9110])

    def test_no_limit(self) -> None:
        """0 keeps everything."""
        copy = copied(b"abc" * 100)
        self.assertFalse(copy.truncated)
        self.assertEqual(len(copy.take()), 300)


class MessageTests(SynchronousTestCase):
    """Requests and responses of protocol 3."""

    def test_headers(self) -> None:
        """Names are lower case, repeats are joined; the lines stand beside them."""
        self.assertEqual(header_map([(b"A", b"\xe9")]), ({"a": "é"}, UNSET))
        pairs = [(b"Set-Cookie", b"a"), (b"set-cookie", b"b")]
        headers, lines = header_map(pairs)
        self.assertEqual(headers, {"set-cookie": "a, b"})
        self.assertEqual(lines, [("Set-Cookie", "a"), ("set-cookie", "b")])

    def test_cookies(self) -> None:
        """Lines of cookies are joined as one line of cookies, as the Node agent does."""
        headers, _ = header_map([(b"Cookie", b"a=1"), (b"cookie", b"b=2")])
        self.assertEqual(headers, {"cookie": "a=1; b=2"})

    def test_request(self) -> None:
        """No body is null."""
        request = request_of("http://a/", b"GET", [], b"")
        self.assertEqual((request.method, bytes(request.body_base64)), ("GET", b"null"))

    def test_response(self) -> None:
        """The beginning of a body is marked, with the size of the whole."""
        head = parse_response(b"HTTP/1.1 200 OK\r\nA: b")
        response = response_of("http://a/", head, head.pairs, b"0123", full_size=10)
        self.assertEqual((response.truncated, response.body_size), (True, 10))
        self.assertEqual((response.status, response.status_text), (200, "OK"))
        self.assertEqual(body.to_bytes(response.body_base64), b"0123")
