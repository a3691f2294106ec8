"""CORS: which pages may read REST answers."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.cors import cors_headers


class CorsTests(SynchronousTestCase):
    """Which pages may read REST answers."""

    METHODS = (b"access-control-allow-methods", b"GET, HEAD, OPTIONS")
    HEADERS = (b"access-control-allow-headers", b"content-type")

    def test_no_origin(self) -> None:
        """Without an Origin the answer says ``*``."""
        expected = {(b"access-control-allow-origin", b"*"), self.METHODS, self.HEADERS}
        self.assertEqual(set(cors_headers(None, ())), expected)

    def test_loopback(self) -> None:
        """A loopback origin is named, and caches are told that the answer depends on it."""
        expected = {
            (b"access-control-allow-origin", b"http://localhost:3000"),
            (b"vary", b"Origin"),
            self.METHODS,
            self.HEADERS,
        }
        self.assertEqual(set(cors_headers("http://localhost:3000", ())), expected)

    def test_foreign(self) -> None:
        """Any other origin gets no CORS header at all."""
        for origin in ("http://evil.example", "null", "", "http://localhost:3000, null"):
            self.assertEqual(cors_headers(origin, ()), (), origin)

    def test_allowed(self) -> None:
        """An allowed origin is named like a loopback one; ``*`` opens the API to all."""
        named = dict(cors_headers("http://app.example", {"http://app.example"}))
        self.assertEqual(named[b"access-control-allow-origin"], b"http://app.example")
        opened = dict(cors_headers("http://evil.example", {"*"}))
        self.assertEqual(opened[b"access-control-allow-origin"], b"*")
