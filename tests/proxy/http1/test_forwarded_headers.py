"""Which header lines go on."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1 import forwarded_headers
from trafficmock.proxy.http1.framing import CHUNKED, NONE, BodyKind, Framing
from trafficmock.proxy.http1.heads import parse_request, parse_response


class EndToEndTests(SynchronousTestCase):
    """RFC 9110 section 7.6.1."""

    def test_hop_by_hop(self) -> None:
        """What is between neighbours stays there, also what Connection lists."""
        head = parse_request(
            b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Mine, Host\r\nX-Mine: 1\r\n"
            b"Keep-Alive: 5\r\nProxy-Authorization: s\r\nProxy-Connection: x\r\nTE: trailers\r\n"
            b"Trailer: a\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\nX-Yours: 2\r\nX-Yours: 3"
        )
        kept = [(b"Host", b"a"), (b"X-Yours", b"2"), (b"X-Yours", b"3")]
        self.assertEqual(forwarded_headers.end_to_end(head), kept)

    def test_trailers(self) -> None:
        """A response announces its trailers, which say nothing of framing (RFC 9110 6.5.1)."""
        head = parse_response(b"HTTP/1.1 200 OK\r\nTE: x\r\nTrailer: X-Sum")
        self.assertEqual(forwarded_headers.end_to_end(head), [(b"Trailer", b"X-Sum")])
        names = (b"X-Sum", b"Content-Length", b"transfer-encoding", b"Host", b"Connection")
        given = [(name, b"1") for name in names]
        self.assertEqual(forwarded_headers.forwarded_trailers(given), given[:1])


class BlockTests(SynchronousTestCase):
    """Heads as they are written."""

    def test_request(self) -> None:
        """Host comes from the target, the length from the framing, ``via`` is extended."""
        pairs = [(b"Host", b"x"), (b"Content-Length", b"9"), (b"Via", b"1.0 a"), (b"A", b"b")]
        block = forwarded_headers.request_block(b"PUT", b"/", b"h", pairs, CHUNKED)
        self.assertEqual(
            block,
            b"PUT / HTTP/1.1\r\nhost: h\r\nA: b\r\nvia: 1.0 a, 1.1 trafficmock\r\n"
            b"transfer-encoding: chunked\r\n\r\n",
        )
        with_length = forwarded_headers.request_block(
            b"PUT", b"/", b"h", [], Framing(BodyKind.LENGTH, 3)
        )
        self.assertIn(b"content-length: 3\r\n", with_length)

    def test_no_body(self) -> None:
        """A method that usually has a body says that it has none (RFC 9110 section 8.6)."""
        self.assertIn(
            b"content-length: 0", forwarded_headers.request_block(b"POST", b"/", b"h", [], NONE)
        )
        self.assertNotIn(
            b"content-l", forwarded_headers.request_block(b"GET", b"/", b"h", [], NONE)
        )

    def test_response(self) -> None:
        """Repeats survive; ``via`` can be left out of what is ours."""
        pairs = [(b"Set-Cookie", b"a"), (b"Set-Cookie", b"b")]
        block = forwarded_headers.response_block(200, b"OK", pairs, chunked=True, close=True)
        self.assertEqual(
            block,
            b"HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nvia: 1.1 trafficmock\r\n"
            b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        )
        own = forwarded_headers.response_block(200, b"", [], chunked=False, close=False, via=b"")
        self.assertEqual(own, b"HTTP/1.1 200 \r\n\r\n")

    def test_expectation(self) -> None:
        """HTTP/1.0 cannot expect 100."""
        line = b"\r\nExpect: 100-Continue"
        self.assertTrue(forwarded_headers.expects_continue(parse_request(b"PUT / HTTP/1.1" + line)))
        self.assertFalse(
            forwarded_headers.expects_continue(parse_request(b"PUT / HTTP/1.0" + line))
        )
