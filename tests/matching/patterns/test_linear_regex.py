"""Requirements on :mod:`trafficmock.matching.patterns.linear_regex`."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.patterns.linear_regex import (
    MAX_SOURCE,
    LinearPattern,
    PatternTooLargeError,
    as_subject,
    byte_escape,
)


class LinearPatternTests(SynchronousTestCase):
    """Patterns are linear in time and bounded in size."""

    def test_search_and_fullmatch(self) -> None:
        """A search finds the pattern anywhere, a full match wants all of the subject."""
        pattern = LinearPattern(b"a+")
        self.assertTrue(pattern.search(b"xaax"))
        self.assertFalse(pattern.fullmatch(b"xaax"))
        self.assertTrue(pattern.fullmatch(b"aa"))

    def test_no_backtracking(self) -> None:
        """Patterns that take a backtracking engine for ever are answered."""
        for source in (b"(?:a+)+c", b"(?:a|a)*c", b"(?:.*a){20}c", b"(?:a?){50}a{50}c"):
            self.assertFalse(LinearPattern(source).search(b"a" * 5000), source)

    def test_too_long(self) -> None:
        """A source beyond the limit is refused at once, and one within is accepted."""
        self.assertRaises(PatternTooLargeError, LinearPattern, b"a" * (MAX_SOURCE + 1))
        self.assertFalse(LinearPattern(b"a" * MAX_SOURCE).search(b"a"))

    def test_too_many_repetitions(self) -> None:
        """A short source that repeats itself beyond the limits is refused when compiled."""
        for source in (b"a{1001}", b"(?:abcdefghijkl){1000}"):
            pattern = LinearPattern(source)
            self.assertRaises(PatternTooLargeError, pattern.search, b"a")

    @given(st.text(st.characters(exclude_categories=())), st.text())
    def test_escape(self, text: str, other: str) -> None:
        """Escaped text matches itself and nothing else, lone surrogates included."""
        pattern = LinearPattern(byte_escape(text))
        self.assertTrue(pattern.fullmatch(as_subject(text)))
        self.assertEqual(pattern.fullmatch(as_subject(other)), text == other)
