"""What tests change."""

from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy import request_target
from trafficmock.proxy.http1.heads import parse_request
from trafficmock.proxy.transfer import request_rewriting
from trafficmock.proxy.upstream_errors import UpstreamError
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

AIM = request_target.absolute(b"http://a.test/x")
PAIRS = [(b"Host", b"a.test"), (b"A", b"b")]


def rewritten(**overrides: Any) -> request_rewriting.Rewritten:
    return request_rewriting.rewrite(
        b"POST", AIM, PAIRS, msgspec.convert(overrides, SerializedOverrides)
    )


def mock(method: bytes = b"GET", *, minor: int = 1, **fields: Any) -> bytes:
    given_by_test = {"status": 200, "statusText": "OK", "headers": {}, "bodyBase64": None, **fields}
    response = msgspec.json.decode(msgspec.json.encode(given_by_test), type=SerializedResponse)
    return request_rewriting.mock_bytes(
        response, parse_request(b"%s /x HTTP/1.%d\r\nHost: a" % (method, minor)), close=False
    )


class RewriteTests(SynchronousTestCase):
    """Overrides of a request."""

    def test_nothing(self) -> None:
        """Without overrides it stays what it was."""
        same = rewritten()
        self.assertEqual((same.method, same.url, same.pairs), (b"POST", AIM.url, PAIRS))
        self.assertIsNone(same.content)

    def test_url(self) -> None:
        """Another URL is another server; its fragment stays here."""
        other = rewritten(url="https://B.test/y?z#f")
        self.assertEqual((str(other.origin), other.path), ("https://b.test", b"/y?z"))

    def test_body_follows_method(self) -> None:
        """What becomes a GET loses its body, unless it is given one."""
        self.assertEqual(rewritten(method="get").content, b"")
        self.assertEqual(rewritten(method="put").method, b"PUT")

    def test_framing_is_ours(self) -> None:
        """Lengths and hop-by-hop lines in overrides do not count."""
        other = rewritten(headers={"content-length": "9", "connection": "close", "x": " 1 "})
        self.assertEqual(other.pairs, [(b"x", b"1")])
        lines = rewritten(headersList=[["a", "1"], ["A", "2"]])
        self.assertEqual(lines.pairs, [(b"a", b"1"), (b"A", b"2")])

    def test_context(self) -> None:
        """Headers that a test overrides get the context of the request, once."""
        given_by_test = msgspec.convert({"headers": {"x": "1"}}, SerializedOverrides)
        pairs = [(b"baggage", b"trafficmock.test=A")]
        for overrides, expected in (
            (SerializedOverrides(), pairs),
            (given_by_test, [(b"x", b"1"), *pairs]),
        ):
            other = request_rewriting.rewrite(b"GET", AIM, pairs, overrides, b"A")
            self.assertEqual(other.pairs, expected)

    def test_unsendable(self) -> None:
        """What HTTP cannot carry is a 502 that says whose fault it is."""
        for overrides in (
            {"url": "nonsense"},
            {"url": "file:///x"},
            {"method": "a b"},
            {"method": "\ud800"},
            {"method": "\xdf"},
            {"headers": {"a b": "c"}},
            {"headers": {"a": "b\r\nc: d"}},
            {"headers": {"a": "\u20ac"}},
        ):
            error = self.assertRaises(UpstreamError, rewritten, **overrides)
            self.assertEqual((error.status, error.code), (502, "bad_override"))

    def test_without_field(self) -> None:
        """A header is left out in any case."""
        left = request_rewriting.without_field(rewritten(), b"a")
        self.assertEqual(left.pairs, [(b"Host", b"a.test")])
        self.assertEqual(request_rewriting.without_field(left, b"a"), left)


class MockTests(SynchronousTestCase):
    """Answers that tests make up."""

    def test_length(self) -> None:
        """The length is that of the body; HEAD, 204 and 304 have none of it."""
        body = "aGVsbG8="
        self.assertTrue(mock(bodyBase64=body).endswith(b"content-length: 5\r\n\r\nhello"))
        self.assertTrue(mock(b"HEAD", bodyBase64=body).endswith(b"content-length: 5\r\n\r\n"))
        self.assertEqual(mock(status=204), b"HTTP/1.1 204 OK\r\n\r\n")
        self.assertEqual(mock(status=304, headers={"etag": "x"}).count(b"content"), 0)

    def test_trailers(self) -> None:
        """Trailers follow the last chunk; a client of HTTP/1.0 has no chunks."""
        fields: dict[str, Any] = {"bodyBase64": "aGVsbG8=", "trailers": [["X-Sum", "7"]]}
        self.assertEqual(
            mock(**fields),
            b"HTTP/1.1 200 OK\r\ntrailer: X-Sum\r\ntransfer-encoding: chunked\r\n\r\n"
            b"5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n",
        )
        old = mock(minor=0, **fields)
        self.assertEqual(old, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")

    def test_told_length(self) -> None:
        """An answer to HEAD, or a 304, tells the length that a mock without a body has."""
        told = {"Content-Length": "1234"}
        for answer in (mock(b"HEAD", headers=told), mock(status=304, headers=told)):
            self.assertTrue(answer.endswith(b"\r\ncontent-length: 1234\r\n\r\n"), answer)
        self.assertIn(b"content-length: 0\r\n", mock(headers=told))
        for wrong in ("-1", "abc", "1" * 16):
            answer = mock(b"HEAD", headers={"content-length": wrong})
            self.assertNotIn(b"content-length", answer)
        self.assertNotIn(b"content-length", mock(b"HEAD"))

    def test_repeats(self) -> None:
        """Several cookies are several lines."""
        answer = mock(headersList=[["set-cookie", "a"], ["set-cookie", "b"]])
        self.assertEqual(answer.count(b"set-cookie: "), 2)
