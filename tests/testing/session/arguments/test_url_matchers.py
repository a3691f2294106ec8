"""Patterns for URLs, as tests give them and as the proxy gets them."""

import re

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.js_patterns import js_pattern
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.wire.payloads.serialized_matcher import SerializedRegex


class MatcherTests(SynchronousTestCase):
    """What is sent to the proxy, and what is the same."""

    def test_on_the_wire(self) -> None:
        """Only what the proxy reads as we do is sent as such; the rest is a predicate."""
        for url, expected in (
            (r"/a\d$", SerializedRegex(r"/a\d$", "")),
            (re.compile("a", re.IGNORECASE | re.DOTALL), SerializedRegex("a", "is")),
            (re.compile(r"(?P<x>a)"), None),
            (re.compile("[]a]"), None),
            (re.compile("a", re.VERBOSE), None),
            (re.compile(r"a\Z"), None),
        ):
            pattern = re.compile(url) if isinstance(url, str) else url
            wire = make_matcher(pattern).wire
            if expected is None:
                self.assertEqual((bool(wire.predicate), bool(wire.url_regex)), (True, False), url)
            else:
                self.assertEqual(wire.url_regex, expected)

    def test_base_url(self) -> None:
        """Relative globs are resolved here and sent as absolute ones."""
        matcher = make_matcher("/api/*", base_url="http://h.test/x/")
        self.assertEqual(matcher.wire.url_glob, "http://h.test/api/*")
        self.assertTrue(matcher.matches_url("http://h.test/api/1"))
        alone = make_matcher("/api/*")
        self.assertTrue(alone.wire.predicate)
        self.assertFalse(alone.matches_url("http://h.test/api/1"))
        socket = make_matcher("/s", base_url="https://h.test", websocket=True)
        self.assertTrue(socket.matches_url("wss://h.test/s"))

    def test_refused(self) -> None:
        """What is no matcher is refused with a list of those that are."""

        async def coroutine(url: str) -> bool:
            return bool(url)

        for wrong in (5, coroutine, re.compile(b"x"), {"uri": "x"}):
            with self.assertRaises(UsageError):
                make_matcher(wrong)  # type: ignore[arg-type] # that is the point

    def test_same(self) -> None:
        """Matchers are the same when they were written alike."""
        self.assertTrue(make_matcher("**/a").same_as(make_matcher("**/a")))
        self.assertTrue(make_matcher(re.compile("a")).same_as(make_matcher(re.compile("a"))))
        ignoring = make_matcher(re.compile("a", re.IGNORECASE))
        self.assertFalse(make_matcher(re.compile("a")).same_as(ignoring))
        self.assertFalse(make_matcher("a").same_as(make_matcher(re.compile("a"))))
        one, other = (
            make_matcher("a", method=["GET", "PUT"]),
            make_matcher("a", method=["put", "get"]),
        )
        self.assertFalse(one.same_as(other))
        self.assertTrue(one.same_as(make_matcher({"url": "a", "method": ["get", "put"]})))


class PatternTests(SynchronousTestCase):
    """Which patterns JavaScript reads alike."""

    def test_alike(self) -> None:
        """Source and flags are those of JavaScript."""
        for pattern, flags in (
            (re.compile("a.b"), ""),
            (re.compile("a.b", re.IGNORECASE | re.DOTALL), "is"),
            (re.compile("^a$", re.MULTILINE | re.ASCII), "m"),
        ):
            self.assertEqual(js_pattern(pattern), SerializedRegex(pattern.pattern, flags))

    def test_otherwise(self) -> None:
        """What JavaScript reads otherwise, or the proxy cannot compare, is not written."""
        for pattern in (
            re.compile("[]a]"),
            re.compile("a", re.VERBOSE),
            re.compile("(?P<name>a)"),
            re.compile("(?<!x)a"),
            re.compile(b"a"),
        ):
            self.assertIs(js_pattern(pattern), UNSET, pattern)
