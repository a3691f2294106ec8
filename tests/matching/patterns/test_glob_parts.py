"""Globs in parts: tokens, shapes, and how they are resolved."""

import itertools

from hypothesis import assume, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.patterns.glob import TwoStars, translate
from trafficmock.matching.patterns.glob_resolution import needs_base, resolve
from trafficmock.matching.patterns.glob_tokens import GlobError, Wildcard, tokenize
from trafficmock.matching.patterns.linear_regex import LinearPattern, as_subject


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


texts = st.text(alphabet="a/", max_size=3)
stars = st.sampled_from(("*", "**"))
globs = st.builds("{}{}{}{}{}".format, texts, stars, texts, st.just("") | stars, texts)


class TwoStarsTests(SynchronousTestCase):
    """The quick way says what the pattern says."""

    def test_other_shapes_are_left_alone(self) -> None:
        """Globs with braces, with optional directories or with three stars are not taken."""
        for glob in ("a", "{a,b}*", "/**/a", "*a*b*"):
            self.assertIsNone(TwoStars.from_tokens(tokenize(glob)), glob)

    @profile(1000, deep=2)
    @given(globs, st.text(alphabet="a/", max_size=9))
    def test_same_as_the_pattern(self, glob: str, subject: str) -> None:
        """The shape says what the pattern says."""
        tokens = tokenize(glob)
        shape = TwoStars.from_tokens(tokens)
        assume(shape is not None)
        assert shape is not None
        expected = LinearPattern(translate(tokens)).fullmatch(as_subject(subject))
        self.assertEqual(shape.fullmatch(subject), expected)

    def test_examples(self) -> None:
        """The star that takes no slash decides where the middle must stand."""
        for glob, subject, expected in (
            ("**/a*", "/a/ab", True),
            ("**/a*", "/ab/b", False),
            ("*a**", "ba/b", True),
            ("*a**", "b/a", False),
            ("*b/*", "abb/a", True),
            ("*b/*", "a/b/a", False),
            ("a*a", "a", False),
            ("a*a", "aa", True),
        ):
            shape = TwoStars.from_tokens(tokenize(glob))
            assert shape is not None
            self.assertIs(shape.fullmatch(subject), expected, (glob, subject))


class NeedsBaseTests(SynchronousTestCase):
    """Relative globs are recognised."""

    def test_absolute(self) -> None:
        """Globs that mean the same under every base need none."""
        for glob in ("", "*", "**/x", "about:blank", "data:x", "file:/x", "http://h", "WSS://h/"):
            self.assertFalse(needs_base(glob), glob)
        for glob in ("http*://h", "{http,https}://h", "ws:///h"):
            self.assertFalse(needs_base(glob), glob)

    def test_relative(self) -> None:
        """Everything else is relative to the base of a test."""
        for glob in ("/x", "x", "../x", "?q", "//h/x", "h.test/x", "http:h/x", "http://", "http:"):
            self.assertTrue(needs_base(glob), glob)
        for glob in ("ftp://h/x", "{a}/x", " http://h/", "FILE:/x"):
            self.assertTrue(needs_base(glob), glob)


class ResolveTests(SynchronousTestCase):
    """Globs are resolved like URLs."""

    def test_literal_parts_become_canonical(self) -> None:
        """Text without wildcards gets the form in which requests carry it."""
        for glob, resolved in (
            ("HTTP://H.TEST/Users", "http://h.test/Users"),
            ("http://h.test", "http://h.test/"),
            ("http://h.test:80/é b", "http://h.test/%C3%A9%20b"),
            ("http://bücher.test/x", "http://xn--bcher-kva.test/x"),
            ("http://h.test/a/../b/*", "http://h.test/b/*"),
        ):
            self.assertEqual(resolve(glob), resolved)

    def test_wild_parts_stay(self) -> None:
        """Parts with wildcards are kept, in lower case where case does not matter."""
        for glob, resolved in (
            ("http://*.Test:*/É*/A?B=É*", "http://*.test:*/É*/A?B=É*"),
            ("{HTTP,ws}://H.test", "{http,ws}://h.test/"),
            ("http://h.test/\\\\?q", "http://h.test/?q"),
            ("http://h.test/w0z0z*/*", "http://h.test/w0z0z*/*"),
        ):
            self.assertEqual(resolve(glob), resolved)

    def test_base(self) -> None:
        """Relative globs are resolved against the base, http standing for ws if asked."""
        self.assertEqual(resolve("../x*", base_url="HTTP://h.test/v1/"), "http://h.test/x*")
        self.assertEqual(resolve("/s", base_url="HTTPS://h.test", websocket=True), "wss://h.test/s")
        self.assertEqual(resolve("/s", base_url=""), "/s")

    def test_unparsable_text_stays(self) -> None:
        """What no URL parser accepts is kept literally."""
        self.assertEqual(resolve("/api/*"), "/api/*")
        self.assertEqual(resolve("http://h.test:99999/*"), "http://h.test:99999/*")

    @given(st.text(max_size=30), st.none() | st.text(max_size=20), st.booleans())
    def test_any_text(self, glob: str, base_url: str | None, websocket: bool) -> None:  # noqa: FBT001 - hypothesis passes it
        """Any text can be resolved, and resolving is repeatable."""
        once = resolve(glob, base_url=base_url, websocket=websocket)
        self.assertEqual(resolve(glob, base_url=base_url, websocket=websocket), once)

    @given(st.text(alphabet="w0z1/*?", max_size=20))
    def test_placeholders_are_never_seen(self, path: str) -> None:
        """No glob text is taken for a placeholder."""
        self.assertEqual(resolve(f"http://h.test/*{path}*"), f"http://h.test/*{path}*")

    def test_pathologically_long(self) -> None:
        """The time is linear in the number of wildcards, and in the length of the base URL."""
        glob = "a*/" * 300_000
        self.assertEqual(resolve(glob, base_url="http://h.test/"), f"http://h.test/{glob}")
        base = "http://h.test/" + "".join(f"w{number}z/" for number in range(200_000))
        self.assertEqual(resolve("a/*", base_url=base), f"{base}a/*")
