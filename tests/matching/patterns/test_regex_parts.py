"""Regular expressions: the syntax of JavaScript, linear engines, results."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.strategies import regex_sources
from tests.support.hypothesis_profiles import profile
from trafficmock.matching.patterns.js_regex_syntax import (
    MAX_DEPTH,
    MAX_LENGTH,
    PatternReader,
    UnsupportedRegexError,
)
from trafficmock.matching.patterns.linear_regex import (
    MAX_SOURCE,
    LinearPattern,
    PatternTooLargeError,
    as_subject,
    byte_escape,
)
from trafficmock.matching.patterns.match_result import MatchResult

UNSUPPORTED = (
    *("a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", "(?<n>a)", r"(a)\1", r"\k<n>", "(?i:a)"),
    *(r"\p{L}", r"\u{61}", r"\cJ", r"\0", r"\8", r"\_", r"\é", "é", "a\nb", "[é]", r"[\b]", "\\"),
    *("*", "a**", "a+*", "^*", r"\b+", "(", ")", "(a", "a)", "[", "[a", "[b-a]", r"[\d-z]", "]"),
    *("{", "}", "a{", "a{1", "a{,2}", "a{2,1}", "a{12345}", "a++", "a{2}+", r"\x4", r"\u006"),
    "(" * (MAX_DEPTH + 1) + ")" * (MAX_DEPTH + 1),
    "a" * (MAX_LENGTH + 1),
)


class ReaderTests(SynchronousTestCase):
    """Only what means the same to both engines is translated."""

    def test_outside_the_subset(self) -> None:
        """What differs between the engines, or is no regular expression, is refused."""
        for source in UNSUPPORTED:
            reader = PatternReader(source, ignore_case=False)
            self.assertRaises(UnsupportedRegexError, reader.read)

    def test_texts(self) -> None:
        """Literal characters at the top level, not repeated, are in every match."""
        for source, texts in (
            (r"^\/api\/v1$", ["", "/api/v1", ""]),
            ("ab+cd", ["a", "cd"]),
            ("ab?(cd)e", ["a", "", "e"]),
            ("a[b]c", ["a", "c"]),
            ("ab|cd", []),
        ):
            reader = PatternReader(source, ignore_case=False)
            reader.read()
            self.assertEqual(reader.texts, texts, source)

    def test_texts_without_case(self) -> None:
        """Letters are no literal text if their case does not matter."""
        reader = PatternReader("a1-b", ignore_case=True)
        reader.read()
        self.assertEqual(reader.texts, ["", "1-", ""])

    @profile(500, deep=4)
    @given(regex_sources)
    def test_translation_can_be_compiled(self, source: str) -> None:
        """Whatever is not refused is a pattern, or too large for the engine, never broken."""
        try:
            pattern = LinearPattern(PatternReader(source, ignore_case=False).read())
        except UnsupportedRegexError:
            return
        if "1001" not in source:
            self.assertIn(pattern.search(b"http://a.test/ab"), (True, False))


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


class MatchResultTests(SynchronousTestCase):
    """Results are three-valued."""

    def test_three_answers(self) -> None:
        """Undecidable is an answer of its own, neither yes nor no."""
        self.assertEqual({v.name for v in MatchResult}, {"YES", "NO", "UNDECIDABLE"})
        self.assertEqual(len({v.value for v in MatchResult}), 3)
