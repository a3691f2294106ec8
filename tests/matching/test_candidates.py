"""Requirements on :mod:`trafficmock.matching.candidates`."""

from collections.abc import Iterable
from itertools import product

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.candidates import HANDFUL, Candidates
from trafficmock.matching.patterns.glob import compile_glob
from trafficmock.matching.patterns.url_literals import MAX_END

MANY = 300
OTHERS = [f"http://other{n}.test/**" for n in range(HANDFUL)]
"""So many that URLs are looked up in the indexes."""


def filled(globs: Iterable[str]) -> Candidates[str]:
    candidates: Candidates[str] = Candidates()
    for glob in globs:
        candidates.add(glob, compile_glob(glob).literals)
    return candidates


class CandidatesTests(SynchronousTestCase):
    """The index finds few candidates, and never misses one."""

    def check(self, template: str, url: str) -> None:
        """File many globs of one form; the URL of one must find it, and few others."""
        candidates = filled(template.replace("N", str(n)) for n in range(1000, 1000 + MANY))
        found = list(candidates.find(url.replace("N", "1234")))
        self.assertIn(template.replace("N", "1234"), found)
        self.assertLess(len(found), HANDFUL, template)

    def test_few_candidates_among_many(self) -> None:
        """Whatever the globs look like, a URL finds those that concern it and few others."""
        self.check("http://h.test/r/N", "http://h.test/r/N")
        self.check("http://h.test/r/N/*", "http://h.test/r/N/x")
        self.check("**/api/rN", "http://h.test/api/rN")
        self.check("**/rN*", "http://h.test/rN?x")
        self.check("http://hN.test/**", "http://hN.test/x")
        self.check("http://*.hN.test/**", "http://a.hN.test/x")
        self.check("**/*-N.png", "http://h.test/i-N.png")
        self.check("**/*itemN*", "http://h.test/my-itemN-x")
        self.check("http://h.test/{a,b}/N/*", "http://h.test/b/N/x")
        self.check("**/x?id=N", "http://h.test/x?id=N")

    def test_one_candidate_among_combinations(self) -> None:
        """Globs made of the same few words in all combinations are told apart at once."""
        words = [f"w{n}" for n in range(8)]
        forms = ("http://{}.test/{}/{}/**", "**/{}/{}/{}", "http://*/{}/{}/{}", "**/{}/{}{}/*")
        for form in forms:
            globs = [form.format(*three) for three in product(words, words, words)]
            url = form.replace("*", "x").format("w3", "w5", "w1")
            self.assertEqual(len(list(filled(globs).find(url))), 1, form)

    def test_without_literals(self) -> None:
        """What demands no text of a URL is a candidate for each."""
        candidates = filled(["**", *(f"**/r{n}" for n in range(MANY))])
        self.assertEqual(list(candidates.find("x")), ["**"])

    def test_long_texts(self) -> None:
        """Beginnings and endings of any length are found; many slashes cost linear time."""
        for length in (MAX_END - 20, MAX_END, MAX_END + 20):
            text = "x" * length
            self.check(f"http://h.test/{text}/N/*", f"http://h.test/{text}/N/a")
            self.check(f"**/N/{text}", f"http://h.test/N/{text}")
            self.check(f"http://N.test/{text}/*", f"http://N.test/{text}/a")
        candidates = filled(["http://h.test/r/*", "**/r/x", "**/q", *OTHERS])
        url = "http://h.test/r/" + "a/" * 1_000_000 + "r/x"
        self.assertEqual(set(candidates.find(url)), {"http://h.test/r/*", "**/r/x"})

    def test_once(self) -> None:
        """A member whose alternatives all fit is found once."""
        for others in ([], OTHERS):
            candidates = filled(["http://h.test/{a,b,a}/*", *others])
            self.assertEqual(len(list(candidates.find("http://h.test/a/b"))), 1)

    def test_few(self) -> None:
        """Among few members those are found whose longest text the URL contains."""
        candidates = filled(["http://h.test/a/*", "http://h.test/b/*", "http://h.test/c", "**"])
        self.assertEqual(list(candidates.find("http://h.test/a/x")), ["http://h.test/a/*", "**"])
        self.assertEqual(list(candidates.find("http://h.test/c")), ["http://h.test/c", "**"])

    def test_nothing_is_left(self) -> None:
        """After the last member is removed every table is empty again."""
        globs = ["**", "http://h.test/a", "http://h.test/{a,b}/*"]
        globs += [f"**/r{n}*" for n in range(MANY)]
        candidates = filled(globs)
        self.assertEqual(len(candidates), len(globs))
        for glob in globs:
            candidates.remove(glob)
        self.assertEqual(len(candidates), 0)
        ends = (candidates._beginnings, candidates._endings)
        whole = (*ends, candidates._pairs, candidates._components)
        tables = (candidates._exact, *whole, *candidates._pieces.values())
        self.assertFalse(any(tables))
        self.assertFalse(candidates._rest or candidates._needles)

    def test_remove_unknown(self) -> None:
        """Removing what is not there is an error."""
        self.assertRaises(KeyError, Candidates[str]().remove, "x")
