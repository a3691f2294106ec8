"""Requirements on :mod:`trafficmock.matching.compiled_matcher`."""

import json

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.patterns.test_glob import EXAMPLES, ROWS
from tests.matching.strategies import regex_flags, regex_sources
from trafficmock.matching.compiled_matcher import RouteMatcher, _condition, compile_matcher
from trafficmock.matching.patterns.match_result import MatchResult

YES, NO, UNDECIDABLE = MatchResult.YES, MatchResult.NO, MatchResult.UNDECIDABLE
URL = "http://h.test/api"
DECIDABLE_BEGINNINGS = ("*", "about:", "data:", "chrome:", "edge:", "file:")


def judge(matcher: RouteMatcher, method: str = "GET", client_id: str = "app") -> MatchResult:
    return matcher.judge(URL, method, client_id)


class CompileMatcherTests(SynchronousTestCase):
    """A matcher is never wrong: it may be undecided."""

    def test_recorded_rows(self) -> None:
        """Over the recorded rows without a base the result is right or undecidable."""
        for number, line in enumerate(ROWS.read_text().splitlines(), 1):
            row = json.loads(line)
            result = compile_matcher(url_glob=row["glob"]).judge(row["url"], "GET", "app")
            if row["base"] is None and result is not UNDECIDABLE:
                self.assertIs(result is YES, row["matches"], f"row {number}: {line}")
            if row["glob"].startswith(DECIDABLE_BEGINNINGS) and row["matches"] != "error":
                self.assertIsNot(result, UNDECIDABLE, f"row {number}: {line}")

    def test_examples(self) -> None:
        """The examples of protocol 3 are decided, but for the relative ones."""
        relative = ("http:h.test/*", "//h.test/x", "h.test/x", "/api/users")
        for glob, url, expected in EXAMPLES:
            result = compile_matcher(url_glob=glob).judge(url, "GET", "app")
            wanted = UNDECIDABLE if glob in relative else YES if expected else NO
            self.assertIs(result, wanted, (glob, url))

    def test_nothing_asked(self) -> None:
        """An empty matcher and an empty glob match everything."""
        self.assertIs(judge(compile_matcher()), YES)
        self.assertIs(judge(compile_matcher(url_glob="")), YES)

    def test_methods(self) -> None:
        """Methods are compared in upper case; an empty list is no filter."""
        matcher = compile_matcher(methods=["get", "Post"])
        self.assertIs(judge(matcher, "GET"), YES)
        self.assertIs(judge(matcher, "post"), YES)
        self.assertIs(judge(matcher, "PUT"), NO)

    def test_client_ids(self) -> None:
        """Client ids are compared exactly; an empty list is no filter."""
        matcher = compile_matcher(client_ids=["app"])
        self.assertIs(judge(matcher, client_id="app"), YES)
        self.assertIs(judge(matcher, client_id="App"), NO)

    def test_unix_sockets(self) -> None:
        """A URL of a UNIX socket is matched by a pattern alone that begins with its scheme."""
        url = "http+unix://%2Frun%2Fd.sock/v1/info"
        glob, regex = {"url_glob": "http+unix://**"}, (r"^http\+unix:\/\/.*\/info$", "")
        for naming in (
            {"url_glob": "http+unix://**/info"},
            {"url_glob": "http+unix://{%2Frun%2Fd.sock,*}/v1/info"},
            {"url_regex": regex},
        ):
            self.assertIs(compile_matcher(**naming).judge(url, "GET", "app"), YES, naming)
        self.assertIs(
            compile_matcher(url_glob="http+unix://*/v1/info", predicate=True).judge(url, "GET", ""),
            UNDECIDABLE,
        )
        for other in (
            {},
            {"predicate": True},
            {"url_glob": ""},
            {"url_glob": "**"},
            {"url_glob": "**/v1/info"},
            {"url_glob": "*://*/v1/info"},
            {"url_glob": "http*://*/v1/info"},
            {"url_glob": "{http,http+unix}://*/v1/info"},
            {"url_glob": "/v1/info"},
            {"url_regex": ("unix", "")},
            {"url_regex": (r"http\+unix:", "")},
            {"url_regex": (r"^http\+unix:|info", "")},
            {"url_regex": (r"^http\+unix:(?=.*info)", "")},
            {"url_regex": (r"^h?http\+unix:", "")},
        ):
            self.assertIs(compile_matcher(**other).judge(url, "GET", "app"), NO, other)
        for here in (glob, {"url_regex": regex}):
            self.assertIs(compile_matcher(**here).judge(URL, "GET", "app"), NO, here)

    def test_predicate(self) -> None:
        """A predicate is the worker's to judge, unless something else rules the request out."""
        self.assertIs(judge(compile_matcher(predicate=True)), UNDECIDABLE)
        self.assertIs(judge(compile_matcher(predicate=True, methods=["PUT"])), NO)
        self.assertIs(judge(compile_matcher(predicate=True, client_ids=["other"])), NO)
        self.assertIs(judge(compile_matcher(predicate=True, url_glob="**/x")), NO)
        self.assertIs(judge(compile_matcher(predicate=True, url_glob="**/api")), UNDECIDABLE)

    def test_unreadable_globs(self) -> None:
        """Globs that cannot be read here are undecidable: the worker has the last word."""
        for glob in ("/api", "http://h.test/{a", "**/}", "**/\ud800", "*" + "a" * 100_000):
            self.assertIs(judge(compile_matcher(url_glob=glob)), UNDECIDABLE, glob[:20])

    def test_regex(self) -> None:
        """A regular expression is judged inside the common subset, else undecidable."""
        self.assertIs(judge(compile_matcher(url_regex=("api$", ""))), YES)
        self.assertIs(judge(compile_matcher(url_regex=("^api", ""))), NO)
        self.assertIs(judge(compile_matcher(url_regex=("(?=api)", ""))), UNDECIDABLE)
        self.assertIs(judge(compile_matcher(url_regex=("api", "gg"))), NO)

    def test_glob_and_regex(self) -> None:
        """If both are given both must hold."""
        for glob, source, expected in (
            ("**/api", "api", YES),
            ("**/api", "nothing", NO),
            ("**/x", "api", NO),
            ("**/x", "(?=api)", NO),
            ("/api", "nothing", NO),
            ("/api", "api", UNDECIDABLE),
            ("**/api", "(?=api)", UNDECIDABLE),
        ):
            matcher = compile_matcher(url_glob=glob, url_regex=(source, ""))
            self.assertIs(judge(matcher), expected, (glob, source))

    def test_conditions_are_shared(self) -> None:
        """Routes that ask the same of the URL share one condition."""
        one = compile_matcher(url_glob="**/shared", methods=["GET"])
        self.assertIs(one.condition, compile_matcher(url_glob="**/shared").condition)
        predicate = compile_matcher(predicate=True).condition
        self.assertIs(compile_matcher(url_glob="/relative").condition, predicate)

    def test_long_texts_are_not_remembered(self) -> None:
        """The memory of conditions keeps no long texts."""
        before = _condition.cache_info().currsize
        compile_matcher(url_glob="http://h.test/" + "a" * 5000)
        self.assertEqual(_condition.cache_info().currsize, before)

    @given(
        st.none() | st.text(max_size=20),
        st.none() | st.tuples(regex_sources, regex_flags),
        st.text(st.characters(exclude_categories=()), max_size=20),
        st.booleans(),
    )
    def test_any_matcher(
        self,
        url_glob: str | None,
        url_regex: tuple[str, str] | None,
        url: str,
        predicate: bool,  # noqa: FBT001 - hypothesis passes it
    ) -> None:
        """No matcher is refused, and each has a result about any text."""
        matcher = compile_matcher(url_glob=url_glob, url_regex=url_regex, predicate=predicate)
        self.assertIn(matcher.judge(url, "GET", "app"), MatchResult)
