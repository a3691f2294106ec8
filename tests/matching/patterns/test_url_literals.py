"""Requirements on :mod:`trafficmock.matching.patterns.url_literals`."""

from hypothesis import given
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.strategies import globs, urls
from tests.support.hypothesis_profiles import profile
from trafficmock.matching.patterns.glob import compile_glob
from trafficmock.matching.patterns.glob_tokens import GlobError, tokenize
from trafficmock.matching.patterns.url_literals import Literals, Variant, glob_literals


def literals(glob: str) -> Literals:
    return glob_literals(tokenize(glob))


class GlobLiteralsTests(SynchronousTestCase):
    """Literals are in every URL that matches."""

    def test_exact(self) -> None:
        """A glob without wildcards has one URL."""
        self.assertEqual(literals("http://h/a").exact, "http://h/a")
        self.assertIsNone(literals("http://h/a*").exact)

    def test_whole_components(self) -> None:
        """Text between two slashes, or a slash and an end, is a whole component."""
        for glob, components in (
            ("http://h/a*/b/**", ("h", "b")),
            ("**/users", ("users",)),
            ("**users", ()),
            ("/x/**/b*/c", ("x", "c")),
            ("/x/**/b/c", ("x", "b", "c")),
        ):
            self.assertEqual(literals(glob).variants[0].components, components, glob)

    def test_ends(self) -> None:
        """The beginning and the ending are whole components, and name a host at least."""
        for glob, beginning, ending in (
            ("http://h/a/b*", "http://h/a", ""),
            ("http://h*/a", "", "a"),
            ("http://*/a/b", "", "a/b"),
            ("**/a/b", "", "a/b"),
            ("http://h/**/a", "http://h", "a"),
            ("**a", "", ""),
        ):
            variant = literals(glob).variants[0]
            self.assertEqual((variant.beginning, variant.ending), (beginning, ending), glob)

    def test_needle_is_the_longest_text(self) -> None:
        """The needle is the longest text that every matching URL contains."""
        self.assertEqual(literals("**/api/*/x").needle, "/api/")
        self.assertEqual(literals("**/{a,b}").needle, "")
        self.assertEqual(Literals().needle, "")

    def test_braces_are_written_out(self) -> None:
        """Each way through the braces has literals of its own, as long as they are few."""
        self.assertEqual(
            literals("/x/{a,b}").variants,
            (
                Variant(("x", "a"), ("/x/a",), "", "x/a", ("x/a",), ("/x/a",)),
                Variant(("x", "b"), ("/x/b",), "", "x/b", ("x/b",), ("/x/b",)),
            ),
        )
        self.assertEqual(
            literals("/x/" + "{a,b}" * 4).variants,
            (Variant(("x",), ("/x/",), fixed=("/x/", "", "", "", "")),),
        )

    @profile(300, deep=4)
    @given(globs, urls)
    def test_matching_urls_have_them(self, glob: str, url: str) -> None:
        """Every URL that matches has the needle and all literals of one variant."""
        try:
            compiled = compile_glob(glob)
        except GlobError:
            return
        if not compiled.pattern or not compiled.pattern.fullmatch(url.encode(errors="ignore")):
            return
        url = url.encode(errors="ignore").decode()
        self.assertIn(compiled.literals.needle, url)
        components = set(url.split("/"))
        self.assertTrue(
            any(
                components.issuperset(variant.components)
                and url.startswith(variant.beginning)
                and url.endswith(variant.ending)
                and all(pair in url for pair in variant.pairs)
                and all(text in url for text in variant.texts)
                for variant in compiled.literals.variants
            )
        )
