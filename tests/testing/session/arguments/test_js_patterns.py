"""Python's patterns for the proxy."""

import re

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.session.arguments.js_patterns import js_pattern
from trafficmock.wire.payloads.serialized_matcher import SerializedRegex


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
