"""Requirements on :mod:`trafficmock.matching.patterns.regex`."""

import json
import shutil
import subprocess
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.matching.strategies import regex_flags, regex_sources, urls
from trafficmock.matching.patterns.js_regex_syntax import UnsupportedRegexError
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.patterns.regex import compile_regex, flags_are_impossible

URL = "http://h.test/api/users/12?x=1"

#: Source, flags, and what a search in URL finds.
EXAMPLES = (
    (r"\/api\/users\/\d+", "", True),
    (r"^https?:\/\/h\.test\/.*x=1$", "", True),
    ("API", "", False),
    ("API", "i", True),
    ("[A-F]PI", "gi", True),
    ("[^A]pi", "i", False),
    ("api", "y", False),
    ("http", "y", True),
    (r"\bapi\b", "", True),
    (r"\Bapi", "", False),
    (r"users/\d{2}\?", "", True),
    (r"users/\d{03,}", "", False),
    (r"[^\W\d]{3,5}?\/", "", True),
    (r"\s", "", False),
    ("(a+)+$", "", False),
    ("", "", True),
    ("[]", "", False),
    ("[^]", "", True),
    ("x=1$|^nothing", "", True),
    ("users$", "m", False),
    ("h.test.api", "s", True),
    (r"\x68\u002etest", "", True),
)

#: Reads a list of [source, flags, subject], prints what a search finds or null for an error.
ORACLE = """
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(cases.map(([source, flags, subject]) => {
  try { return new RegExp(source, flags).test(subject); } catch { return null; }
})));
"""


def ask_node(cases: list[tuple[str, str, str]]) -> list[bool | None]:
    """Let JavaScript's own engine search."""
    node = shutil.which("node")
    if node is None:
        raise SkipTest("there is no node on the PATH")
    command = [node, "-e", ORACLE]
    done = subprocess.run(
        command, input=json.dumps(cases).encode(), capture_output=True, check=True, timeout=60
    )
    answers: list[bool | None] = json.loads(done.stdout)
    return answers


def judge(source: str, flags: str, url: str) -> MatchResult:
    return compile_regex(source, flags).judge(JudgedUrl(url), MatchBudget(steps=inf))


class CompileRegexTests(SynchronousTestCase):
    """Regular expressions say what JavaScript says, or nothing."""

    def test_examples(self) -> None:
        """Inside the common subset a search says what JavaScript says."""
        for source, flags, expected in EXAMPLES:
            result = judge(source, flags, URL)
            self.assertIs(result, MatchResult.YES if expected else MatchResult.NO, (source, flags))

    def test_unsupported_flags(self) -> None:
        """Flags that change the syntax, and unknown ones, are refused."""
        for flags in ("u", "v", "x", "G"):
            self.assertRaises(UnsupportedRegexError, compile_regex, "a", flags)

    def test_too_large(self) -> None:
        """Repetitions beyond what the engine takes are refused when read, not when judged."""
        for source in ("a{1001}", "(a{100}){100}", "(?:abcdefghijkl){1000}"):
            self.assertRaises(UnsupportedRegexError, compile_regex, source, "")

    def test_impossible_flags(self) -> None:
        """Only flags that no engine can ever accept are impossible."""
        for flags, impossible in (("gg", True), ("uv", True), ("", False), ("dgimsuy", False)):
            self.assertIs(flags_are_impossible(flags), impossible, flags)
        self.assertFalse(flags_are_impossible("x"))

    def test_unusual_subjects(self) -> None:
        """Beyond printable ASCII only the lack of literal text is certain."""
        for url in ("aéb", "a\nb", "a\ud800b", "a\u2028b"):
            self.assertIs(judge("a.b", "", url), MatchResult.UNDECIDABLE, url)
        self.assertIs(judge("abc", "", "aéb"), MatchResult.NO)

    def test_linear_time(self) -> None:
        """Patterns that hang a backtracking engine are answered."""
        url = "http://h.test/" + "a" * 5000
        for source in ("(a+)+$", "(a|a)*$", "(.*a){10}$", "(a?){20}a{20}$"):
            self.assertIs(judge(source + "b", "", url), MatchResult.NO, source)

    @settings(max_examples=10, deadline=None)
    @given(st.lists(st.tuples(regex_sources, regex_flags, urls), min_size=80, max_size=120))
    def test_javascript_agrees(self, cases: list[tuple[str, str, str]]) -> None:
        """Whatever is decided here, JavaScript's own engine decides alike."""
        cases = [case for case in cases if case[2].isprintable()]
        for case, expected in zip(cases, ask_node(cases), strict=True):
            source, flags, url = case
            try:
                result = judge(source, flags, url)
            except UnsupportedRegexError:
                continue
            if flags_are_impossible(flags):
                self.assertIsNone(expected, case)
            elif result is not MatchResult.UNDECIDABLE:
                self.assertIs(expected, result is MatchResult.YES, case)
