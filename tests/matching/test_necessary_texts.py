"""Requirements on :mod:`trafficmock.matching.necessary_texts`."""

import json

from hypothesis import given
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.patterns.test_glob import ROWS
from tests.matching.strategies import globs, regex_flags, regex_sources, urls
from tests.support.hypothesis_profiles import profile
from trafficmock.matching import compile_matcher
from trafficmock.matching.necessary_texts import LONGEST, Texts, may_begin, necessary_texts
from trafficmock.matching.patterns.glob_resolution import resolve
from trafficmock.matching.patterns.match_result import MatchResult


def texts_of(glob: str, *, predicate: bool = False) -> tuple[Texts, ...] | None:
    return necessary_texts(compile_matcher(url_glob=glob, predicate=predicate).condition)


def has(url: str, texts: Texts) -> bool:
    """Tell whether a URL has these texts, as an agent does."""
    if len(texts) == 1:
        return url == texts[0]
    first, *middle, last = texts
    return url.startswith(first) and url.endswith(last) and all(each in url for each in middle)


class NecessaryTextsTests(SynchronousTestCase):
    """A URL that a route may match has the texts."""

    def test_globs(self) -> None:
        """The texts between wildcards, and those of each way through braces."""
        for glob, expected in (
            ("http://h.test/a", (("http://h.test/a",),)),
            ("HTTP://H.test:80/a/*", (("http://h.test/a/", ""),)),
            ("http://h.test/**/x", (("http://h.test/", "/x"),)),
            ("**/prices/*", (("", "/prices/", ""),)),
            ("**/{a,b}.json", (("", "/a.json"), ("", "/b.json"))),
            ("**", None),
            ("", None),
            ("/relative", None),
            ("{unreadable", None),
            ("http*", None),
            ("*/*", None),
            ("http://*", (("http://", "/"),)),
        ):
            self.assertEqual(texts_of(glob), expected, glob)

    def test_other_conditions(self) -> None:
        """A predicate takes nothing away, and alone has no text; regular expressions may have."""
        self.assertEqual(texts_of("**/x", predicate=True), (("", "/x"),))
        for given_, expected in (
            ({"predicate": True}, None),
            ({}, None),
            ({"url_regex": ("^https?://[a-z]+/users", "")}, (("", "/users", ""),)),
            ({"url_regex": ("(?<=a)b", "")}, None),
            ({"url_regex": (r"/users/\d+$", "i")}, None),
            ({"url_regex": ("^https?://", "")}, None),
            ({"url_regex": ("a", "uv")}, ()),
        ):
            condition = compile_matcher(**given_).condition
            self.assertEqual(necessary_texts(condition), expected, given_)

    def test_long(self) -> None:
        """Of a long text a part will do."""
        long = "http://h.test/" + "a" * LONGEST
        self.assertEqual(texts_of(long), ((long[:LONGEST], ""),))
        self.assertEqual(texts_of(long + "*" + long), ((long[:LONGEST], long[-LONGEST:]),))

    def assert_has(self, glob: str | None, regex: tuple[str, str] | None, url: str) -> None:
        matcher = compile_matcher(url_glob=glob, url_regex=regex)
        if matcher.judge(url, "GET", "app") is not MatchResult.NO:
            texts = necessary_texts(matcher.condition)
            found = texts is None or any(has(url, each) for each in texts)
            self.assertTrue(found, (glob, regex, url, texts))

    def test_rows(self) -> None:
        """Every row of the examples that matches has them."""
        count = 0
        for line in ROWS.read_text("utf-8").splitlines():
            row = json.loads(line)
            glob = resolve(row["glob"], base_url=row["base"], websocket=row["websocket"])
            self.assert_has(glob, None, row["url"])
            count += row["matches"] is True
        self.assertGreater(count, 0)

    @profile(300)
    @given(globs, urls)
    def test_matching_globs(self, glob: str, url: str) -> None:
        """Whatever glob matches or may match, the URL has its texts."""
        self.assert_has(glob, None, url)

    @profile(300)
    @given(regex_sources, regex_flags, urls)
    def test_matching_regexes(self, source: str, flags: str, url: str) -> None:
        """So has it those of a regular expression."""
        self.assert_has(None, (source, flags), url)


class MayBeginTests(SynchronousTestCase):
    """Whether a route may match a URL of a server."""

    def test_globs(self) -> None:
        """By the beginning of a glob, where it has one."""
        for glob, expected in (
            ("https://api.test/v1/*", True),
            ("https://api.test/", True),
            ("https://*.test/v1", True),
            ("**/v1", True),
            ("https://{api,other}.test/x", True),
            ("https://api.test:444/**", False),
            ("https://api.testing/**", False),
            ("https://other.test/**", False),
            ("http://api.test/**", False),
        ):
            condition = compile_matcher(url_glob=glob).condition
            self.assertEqual(may_begin(condition, "https://api.test/"), expected, glob)

    @given(globs, urls)
    def test_never_wrong(self, glob: str, url: str) -> None:
        """What a route matches has a beginning that it may have."""
        matcher = compile_matcher(url_glob=glob)
        if matcher.judge(url, "GET", "app") is not MatchResult.NO:
            base = "/".join([*url.split("/", 3)[:3], ""])
            self.assertTrue(may_begin(matcher.condition, base))
