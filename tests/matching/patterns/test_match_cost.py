"""Requirements on :mod:`trafficmock.matching.patterns.match_cost`."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.strategies import globs, regex_sources, urls
from trafficmock.matching.compiled_matcher import compile_matcher
from trafficmock.matching.patterns.linear_regex import FIXED_MEMORY, LinearPattern
from trafficmock.matching.patterns.match_cost import STEPS, MatchBudget, PatternCache
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.route_index import MatchingRoutes, RouteIndex

LONG_URL = "http://h.test/" + "ab" * 30_000


class EnginesTests(SynchronousTestCase):
    """The memory of all patterns together."""

    def test_sum(self) -> None:
        """Those used last are kept, within the limit; a limit of 0 keeps all."""
        patterns = [LinearPattern(b"a" * (n + 1)) for n in range(6)]
        pattern_cache, unlimited = PatternCache(4 * FIXED_MEMORY), PatternCache(0)
        for pattern in patterns:
            self.assertTrue(pattern_cache.get(pattern).search(b"a" * 6))
            self.assertTrue(pattern_cache.get(patterns[0]).search(b"a"))
            self.assertLessEqual(pattern_cache.used, pattern_cache.limit)
            unlimited.get(pattern)
        kept = [pattern in pattern_cache for pattern in patterns]
        self.assertEqual(kept, [True, False, False, False, True, True])
        self.assertTrue(all(pattern in unlimited for pattern in patterns))

    def test_larger_than_all(self) -> None:
        """A pattern that needs more than the limit is judged all the same, and not kept."""
        pattern_cache, pattern = PatternCache(1), LinearPattern(b"a")
        self.assertTrue(pattern_cache.get(pattern).search(b"a"))
        self.assertEqual((pattern in pattern_cache, pattern_cache.used), (False, 0))

    def test_memory_is_given(self) -> None:
        """RE2 is given so much memory for a pattern as is counted."""
        for source in (b"a", b"(?:abc){300}", b"[ab]*a[ab]{600}c"):
            pattern = LinearPattern(source)
            pattern.compile()
            self.assertEqual(pattern.compile().options.max_mem, pattern.memory)

    def test_released(self) -> None:
        """What routes had compiled goes with them."""
        pattern_cache = PatternCache()
        index = RouteIndex(pattern_cache)
        for number in range(3):
            for client_ids in ([], ["app", "web"]):
                matcher = compile_matcher(
                    url_regex=(f"a{{{number + 1}}}", ""), client_ids=client_ids
                )
                index.add(f"{number}{client_ids}", matcher)
        index.judge("http://aaa.test/", "GET", "app")
        self.assertGreater(pattern_cache.used, 0)
        for number in range(3):
            for client_ids in ([], ["app", "web"]):
                index.remove(f"{number}{client_ids}")
                index.judge("http://aaa.test/", "GET", "app")
        self.assertEqual(pattern_cache.used, 0)


class WorkTests(SynchronousTestCase):
    """The steps of one request."""

    def test_many_patterns(self) -> None:
        """Patterns beyond the steps of a request are their worker's to judge, others are not."""
        index = RouteIndex()
        for number in range(100):
            source = f"[ab]*a[ab]{{{600 + number}}}c"
            index.add(f"r{number}", compile_matcher(url_regex=(source, "")))
        index.add("cheap", compile_matcher(url_regex=("h.test/[ab]", "")))
        short = "http://h.test/" + "ab" * 10
        self.assertEqual(index.judge(short, "GET", "c"), MatchingRoutes(["cheap"], []))
        judged = index.judge(LONG_URL + "c", "GET", "c")
        self.assertEqual(judged.yes, ["cheap"])
        self.assertEqual(len(judged.undecided), 100)

    def test_no_limit(self) -> None:
        """Without a limit every pattern is judged."""
        matcher = compile_matcher(url_regex=("[ab]*a[ab]{600}c", ""))
        for steps, expected in ((inf, MatchResult.NO), (1000, MatchResult.UNDECIDABLE)):
            budget = MatchBudget(steps=steps)
            self.assertIs(matcher.judge(LONG_URL, "GET", "c", budget), expected)

    def test_globs(self) -> None:
        """Globs that need a pattern cost steps, too; without their text they cost none."""
        glob = "**/" + "*b" * 200 + "/end"
        matcher = compile_matcher(url_glob=glob)
        self.assertIs(
            matcher.judge(LONG_URL + "/end", "GET", "c", MatchBudget()), MatchResult.UNDECIDABLE
        )
        self.assertIs(matcher.judge(LONG_URL, "GET", "c", MatchBudget()), MatchResult.NO)
        self.assertIs(
            matcher.judge("http://h.test/a/end", "GET", "c", MatchBudget()), MatchResult.NO
        )

    def test_glob_and_regex(self) -> None:
        """A regular expression that does not match rules a glob out that was not judged."""
        glob = "**/" + "*b" * 200 + "/end"
        for source, expected in (("^nothing", MatchResult.NO), ("end$", MatchResult.UNDECIDABLE)):
            matcher = compile_matcher(url_glob=glob, url_regex=(source, ""))
            self.assertIs(matcher.judge(LONG_URL + "/end", "GET", "c", MatchBudget()), expected)

    @given(st.none() | globs, st.none() | regex_sources, urls, st.integers(1, 3000))
    def test_never_wrong(self, glob: str | None, source: str | None, url: str, steps: int) -> None:
        """With few steps the result is the one with many, or undecidable."""
        regex = None if source is None else (source, "")
        matcher = compile_matcher(url_glob=glob, url_regex=regex)
        bounded = matcher.judge(url, "GET", "c", MatchBudget(steps=steps))
        unbounded = matcher.judge(url, "GET", "c")
        self.assertIn(bounded, {unbounded, MatchResult.UNDECIDABLE})
        self.assertIs(matcher.judge(url, "GET", "c", MatchBudget(steps=STEPS)), unbounded)
