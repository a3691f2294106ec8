"""What answers have in common: who may read them, entity tags, how they are written."""

import json

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.cors import cors_headers
from trafficmock.http.etags import etag, is_current, revision_of
from trafficmock.http.responses import RestError, encode, error_body


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


class EtagTests(SynchronousTestCase):
    """If-None-Match against the tag of now."""

    def test_tags_differ(self) -> None:
        """Another revision and another process have other tags."""
        tags = {etag(start=start, revision=n) for start in ("a", "b") for n in (1, 11, 17)}
        self.assertEqual(len(tags), 6)

    def test_current(self) -> None:
        """The tag itself, its weak form, a list with it and ``*`` all match."""
        for given_tags in ('"a-1"', 'W/"a-1"', '"x", W/"a-1" ,"y"', '"x","a-1"', " * "):
            self.assertTrue(is_current(given_tags, '"a-1"'), given_tags)

    def test_not_current(self) -> None:
        """Another tag, a tag without quotes or in another's quotes, or none do not match."""
        for given_tags in (None, "", '"a-2"', "a-1", '"a-1', '"x,"a-1"x"', '"*"'):
            self.assertFalse(is_current(given_tags, '"a-1"'), given_tags)

    @given(st.text())
    def test_anything(self, text: str) -> None:
        """No header makes it raise."""
        is_current(text, '"a-1"')

    @given(st.integers(0, 2**50))
    def test_revision(self, revision: int) -> None:
        """A tag of this start gives its revision back, with or without quotes."""
        tag = etag(start="a1", revision=revision)
        self.assertEqual(revision_of(tag, "a1"), revision)
        self.assertEqual(revision_of(tag.strip('"'), "a1"), revision)
        self.assertIsNone(revision_of(tag, "b2"))

    @given(st.text())
    def test_no_revision(self, text: str) -> None:
        """Any other text has none."""
        self.assertIsNone(revision_of(f"{text}!", "a"))
        revision_of(text, "a")


class AnswerTests(SynchronousTestCase):
    """Bodies."""

    @given(st.dictionaries(st.text(), st.text(st.characters())))
    def test_any_text(self, value: dict[str, str]) -> None:
        """Any text survives, lone surrogates too, and the JSON is ASCII."""
        text = encode(value)
        self.assertTrue(text.isascii())
        self.assertEqual(json.loads(text), value)

    def test_errors(self) -> None:
        """An error has a message, unless there is nothing to say."""
        self.assertEqual(error_body("a", "do b"), b'{"error":"a","message":"do b"}')
        self.assertEqual(error_body("a", ""), b'{"error":"a"}')

    def test_rest_error(self) -> None:
        """A :class:`RestError` says in a log what it is."""
        self.assertIn("not_found", str(RestError(404, "not_found", "look elsewhere")))
