"""Requirements on :mod:`trafficmock.matching.patterns.glob_shapes`."""

from hypothesis import assume, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.patterns.glob import translate
from trafficmock.matching.patterns.glob_shapes import TwoStars
from trafficmock.matching.patterns.glob_tokens import tokenize
from trafficmock.matching.patterns.linear_regex import LinearPattern, as_subject

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
