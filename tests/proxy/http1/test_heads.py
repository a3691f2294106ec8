"""Heads of requests and answers, and those taken off a stream."""

import h11
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.heads import (
    BadMessageError,
    parse_request,
    parse_response,
    parse_trailers,
    tokens,
)
from trafficmock.proxy.http1.request_reader import take_request_head

BAD_REQUESTS = [
    b"",
    b"GET",
    b"GET /",
    b"GET  / HTTP/1.1",
    b"GET / HTTP/1.1 ",
    b" GET / HTTP/1.1",
    b"GET / x HTTP/1.1",
    b"GET\t/ HTTP/1.1",
    b"G\xc3\xa9T / HTTP/1.1",
    b"G(T / HTTP/1.1",
    b"M" * 65 + b" / HTTP/1.1",
    b"GET /\xc3\xa9 HTTP/1.1",
    b"GET /#a HTTP/1.1",
    b"GET / http/1.1",
    b"GET / HTTP/1",
    b"GET / HTTP/1.10",
    b"GET / HTTP/1.1\nHost: a",
    b"GET / HTTP/1.1\rHost: a",
    b"GET / HTTP/1.1\r\nHost: a\nX: b",
    b"GET / HTTP/1.1\r\nHost: a\r\n folded",
    b"GET / HTTP/1.1\r\nHost: a\r\n\tfolded",
    b"GET / HTTP/1.1\r\n Host: a",
    b"GET / HTTP/1.1\r\nHost : a",
    b"GET / HTTP/1.1\r\nHost\t: a",
    b"GET / HTTP/1.1\r\nHost",
    b"GET / HTTP/1.1\r\n: a",
    b"GET / HTTP/1.1\r\nHo(st: a",
    b"GET / HTTP/1.1\r\nHost: a\x00b",
    b"GET / HTTP/1.1\r\nHost: a\x7fb",
    b"GET / HTTP/1.1\r\nHost: a\x0bb",
]


class RequestTests(SynchronousTestCase):
    """Requests (RFC 9112 sections 2 to 5)."""

    def test_read(self) -> None:
        """Names keep their case in the lines, values lose the white space around them."""
        head = parse_request(b"GET /a?b HTTP/1.0\r\nHost:  x \r\nx-A: 1\r\nX-a: 2\r\nE:")
        self.assertEqual((head.method, head.target, head.minor), (b"GET", b"/a?b", 0))
        lines = [(b"Host", b"x"), (b"x-A", b"1"), (b"X-a", b"2"), (b"E", b"")]
        self.assertEqual(head.pairs, lines)
        self.assertEqual(head.fields, {b"host": b"x", b"x-a": b"1, 2", b"e": b""})

    def test_refused(self) -> None:
        """What two parsers could read differently is 400."""
        for block in BAD_REQUESTS:
            error = self.assertRaises(BadMessageError, parse_request, block)
            self.assertEqual(error.status, 400, block)

    def test_versions(self) -> None:
        """Another major version is 505."""
        for version in (b"HTTP/2.0", b"HTTP/0.9", b"HTTP/3.1"):
            error = self.assertRaises(BadMessageError, parse_request, b"GET / " + version)
            self.assertEqual((error.status, error.code), (505, "version_not_supported"))

    def test_many_lines(self) -> None:
        """More header lines than a request can need are 431."""
        block = b"GET / HTTP/1.1" + b"\r\na: b" * 500
        self.assertEqual(self.assertRaises(BadMessageError, parse_request, block).status, 431)

    @given(
        st.lists(
            st.sampled_from(
                [b"GET", b" ", b"/", b"HTTP/1.1", b"\r\n", b"\n", b"Host", b":", b"a", b"\t", b"\0"]
            ),
            max_size=14,
        )
    )
    def test_second_opinion(self, pieces: list[bytes]) -> None:
        """What is read is read the same way by h11; nothing else is raised."""
        block = b"".join(pieces)
        try:
            head = parse_request(block)
        except BadMessageError:
            return
        other = h11.Connection(h11.SERVER)
        other.receive_data(block + b"\r\n\r\n")
        try:
            event = other.next_event()
        except h11.RemoteProtocolError as error:
            self.assertIn("Host", str(error))
            return
        assert isinstance(event, h11.Request)
        self.assertEqual((event.method, event.target), (head.method, head.target))
        self.assertEqual(list(event.headers.raw_items()), head.pairs)


class ResponseTests(SynchronousTestCase):
    """Responses."""

    def test_folded(self) -> None:
        """A folded line is one line; white space before the first line is an error."""
        head = parse_response(b"HTTP/1.1 200 OK\r\nX: a\r\n b \r\n\tc\r\nY: d\r\n ")
        self.assertEqual(head.pairs, [(b"X", b"a b c"), (b"Y", b"d")])
        self.assertRaises(BadMessageError, parse_response, b"HTTP/1.1 200 OK\r\n X: a")

    def test_tolerated(self) -> None:
        """What clients tolerate is read; NUL, and CR that is no part of a line end, are not."""
        for lines, value in (
            (b"\nA: b\nB: c", b"b"),
            (b"\r\nA: b\nB: c", b"b"),
            (b"\r\nA : b\r\nB\t : c", b"b"),
            (b"\nA: x\n y\nB : c", b"x y"),
            (b"\r\nA: a\x01 :\x7f\x0b\r\nB: c", b"a\x01 :\x7f\x0b"),
        ):
            head = parse_response(b"HTTP/1.1 200 OK" + lines)
            self.assertEqual(head.pairs, [(b"A", value), (b"B", b"c")])
            self.assertEqual(head.reason, b"OK")
        for lines in (b"A: a\0", b"A: a\rb", b"A: a\r", b"A B : a", b" : a", b"A", b"\x01: a"):
            self.assertRaises(BadMessageError, parse_response, b"HTTP/1.1 200 OK\r\n" + lines)
        self.assertRaises(BadMessageError, parse_response, b"HTTP/1.1 200 O\x01K")

    def test_read(self) -> None:
        """The reason may be empty, and so may the space before it."""
        for line, reason in ((b"HTTP/1.1 200 OK", b"OK"), (b"HTTP/1.1 200 ", b"")):
            head = parse_response(line + b"\r\nA: b")
            self.assertEqual((head.status, head.reason, head.pairs), (200, reason, [(b"A", b"b")]))
        self.assertEqual(parse_response(b"HTTP/1.0 404").status, 404)

    def test_refused(self) -> None:
        """Other things than HTTP/1 are no answers."""
        for block in (b"", b"SSH-2.0-x", b"HTTP/2 200", b"HTTP/1.1 20", b"HTTP/1.1 099 x"):
            self.assertRaises(BadMessageError, parse_response, block)


class ListTests(SynchronousTestCase):
    """Lists and trailers."""

    def test_tokens(self) -> None:
        """Tokens of a list are compared without case."""
        self.assertEqual(tokens(b"Close, keep-Alive\t,x"), {b"close", b"keep-alive", b"x"})
        head = parse_request(b"GET / HTTP/1.1\r\nConnection: a, Upgrade")
        self.assertTrue(head.lists(b"connection", b"upgrade"))
        self.assertFalse(head.lists(b"upgrade", b"x"))

    def test_trailers(self) -> None:
        """Trailers are header lines."""
        self.assertEqual(parse_trailers(b"A: b\r\nC: d"), [(b"A", b"b"), (b"C", b"d")])
        self.assertRaises(BadMessageError, parse_trailers, b"A b")


HEAD = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
LIMIT = len(HEAD) - 4


class TakeTests(SynchronousTestCase):
    """A head, and what lies behind it."""

    def test_pieces(self) -> None:
        """Until the empty line there is none; what follows is left."""
        for size in range(len(HEAD)):
            self.assertEqual(take_request_head(HEAD[:size], LIMIT), (None, HEAD[:size]))
        head, behind = take_request_head(HEAD + b"body", LIMIT)
        assert head is not None
        self.assertEqual((head.target, behind), (b"/x", b"body"))

    def test_too_long(self) -> None:
        """One byte above the limit is 431, complete or not."""
        for given_ in (HEAD, HEAD + b"body", b"x" * (LIMIT + 3)):
            error = self.assertRaises(BadMessageError, take_request_head, given_, LIMIT - 1)
            self.assertEqual(error.status, 431)

    def test_bare_line_ends(self) -> None:
        """A head with LF alone is refused at once: its end would be waited for."""
        for given_ in (HEAD.replace(b"\r", b""), b"GET / HTTP/1.1\n\r\n"):
            error = self.assertRaises(BadMessageError, take_request_head, given_, 1000)
            self.assertEqual(error.status, 400)

    @given(st.lists(st.sampled_from([b"GET", b" /", b"\r\n", b"\n", b"A: b", b"\0"]), max_size=12))
    def test_anything(self, parts: list[bytes]) -> None:
        """Nothing but a refusal is raised, and no byte is lost."""
        data = b"".join(parts)
        try:
            head, behind = take_request_head(data, 30)
        except BadMessageError:
            return
        self.assertTrue(data.endswith(behind))
        self.assertEqual(head is None, behind == data)
