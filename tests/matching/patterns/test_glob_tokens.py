"""Requirements on :mod:`trafficmock.matching.patterns.glob_tokens`."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.patterns.glob_tokens import GlobError, Wildcard, tokenize


class TokenizeTests(SynchronousTestCase):
    """Globs are read as protocol 3 reads them."""

    def test_stars(self) -> None:
        """What stars mean depends on their number and on the slashes around them."""
        self.assertEqual(tokenize("a*b"), ("a", Wildcard.SEGMENT, "b"))
        self.assertEqual(tokenize("a**b"), ("a", Wildcard.ANYTHING, "b"))
        self.assertEqual(tokenize("a**/b"), ("a", Wildcard.ANYTHING, "/b"))
        self.assertEqual(tokenize("**/b"), (Wildcard.ANYTHING, "/b"))
        self.assertEqual(tokenize("/**/b"), ("/", Wildcard.DIRECTORIES, "b"))
        self.assertEqual(tokenize("/***"), ("/", Wildcard.ANYTHING))

    def test_escapes(self) -> None:
        """A backslash makes the next character literal; alone at the end it is literal."""
        self.assertEqual(tokenize(r"\*\{\\\a"), ("*{\\a",))
        self.assertEqual(tokenize("a\\"), ("a\\",))
        self.assertEqual(tokenize(r"\**"), ("*", Wildcard.SEGMENT))

    def test_braces(self) -> None:
        """Braces list alternatives, empty ones included; elsewhere a comma is a comma."""
        self.assertEqual(tokenize("x,{a*,,b}y"), ("x,", (("a", Wildcard.SEGMENT), (), ("b",)), "y"))

    def test_question_mark_and_brackets(self) -> None:
        """Question marks, brackets and other signs mean themselves."""
        self.assertEqual(tokenize("?[a](b)+.^$|"), ("?[a](b)+.^$|",))

    def test_errors_tell_what_and_where(self) -> None:
        """An error names the fault, the character and the glob."""
        for glob, what, position in (
            ("/{a", "no '}' for the '{'", 2),
            ("/a}", "no '{' for the '}'", 3),
            ("/{a,{b}}", "braces cannot be nested", 5),
        ):
            error = self.assertRaises(GlobError, tokenize, glob)
            self.assertIn(what, str(error))
            self.assertIn(f"character {position} ", str(error))
            self.assertIn(repr(glob), str(error))

    @given(st.text(alphabet="*{},\\/ab", max_size=12))
    def test_any_text(self, glob: str) -> None:
        """Every text is either read or refused as a glob, with neighbouring texts joined."""
        try:
            tokens = tokenize(glob)
        except GlobError:
            return
        for one, other in itertools.pairwise(tokens):
            self.assertFalse(isinstance(one, str) and isinstance(other, str))
