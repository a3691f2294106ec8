"""Hosts with stars."""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st
from twisted.python import usage
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.host_pattern import (
    LONGEST_PATTERN,
    PatternError,
    elsewhere,
    is_under_test,
    matches_any,
    read_host_pattern,
)
from trafficmock.matching.starred_text import matches_starred, matches_wildcards
from trafficmock.matching.url_parts import url_parts
from trafficmock.proxy.request_target import absolute, read_origin
from trafficmock.server.options import ProxyOptions

TABLE = json.loads((Path(__file__).parents[1] / "data" / "host_patterns.json").read_text())
"""The tests of the Node agent and of the preload read it too."""

OPTIONS = ("own-host", "tunnel", "upstream-insecure")
"""The options that take a pattern of hosts and nothing else."""


def places(url: str) -> list[tuple[str, int]]:
    """Give the host and port of a URL as the core and the forward proxy read them."""
    parts = url_parts(url)
    assert parts is not None
    found = [(parts.host, int(parts.port))]
    if "@" not in url and url.isascii():
        origin = absolute(url.encode()).origin
        found.append((origin.host, origin.port))
    return found


class TableTests(SynchronousTestCase):
    """The cases for all that read patterns."""

    def test_matches(self) -> None:
        """A pattern matches its hosts, and no others; so does its normal form."""
        for case in TABLE["patterns"]:
            pattern = read_host_pattern(case["pattern"])
            self.assertEqual(pattern.text, case.get("normal", case["pattern"]))
            self.assertEqual(read_host_pattern(pattern.text), pattern)
            for expected, urls in ((True, case["matches"]), (False, case["others"])):
                for url in urls:
                    for host, port in places(url):
                        found = matches_any([pattern], host, port)
                        self.assertEqual(found, expected, (pattern.text, url, host))

    def test_wrong(self) -> None:
        """The error names the pattern and the fault."""
        for text, fault in TABLE["wrong"].items():
            error = self.assertRaises(PatternError, read_host_pattern, text)
            self.assertIn(fault, str(error), text)
            self.assertTrue(str(error).startswith(f"the pattern {text!r} "), text)
        error = self.assertRaises(PatternError, read_host_pattern, "a" * (LONGEST_PATTERN + 1))
        self.assertIn(f"more than {LONGEST_PATTERN} characters", str(error))
        self.assertLess(len(str(error)), 300)

    def test_under_test(self) -> None:
        """Hosts of this machine, names without a dot and those that are given are, others not."""
        own = [read_host_pattern("*.own.test")]
        cases = TABLE["under_test"]
        for expected, urls in ((True, cases["matches"]), (False, cases["others"])):
            for url in urls:
                for host, port in places(url):
                    self.assertEqual(is_under_test(own, host, port), expected, (url, host))

    def test_elsewhere(self) -> None:
        """The same URL at another origin is that of a host under test, and keeps all its parts."""
        for url, rest in {
            "http://127.0.0.1:5655/a?b=//c#d": "/a?b=//c#d",
            "wss://user@[::1]?x": "?x",
            "https://shop": "",
            "http://api.shop.localhost/%2F": "/%2F",
        }.items():
            other = elsewhere(url, ())
            assert other is not None
            scheme, _, place = other.partition("//")
            self.assertEqual(scheme, url.partition("//")[0])
            self.assertTrue(place.endswith(rest) and place.removesuffix(rest), other)
            self.assertIsNone(elsewhere(other, ()))
        for url in ("http://shop.example/", "http:///", "x"):
            self.assertIsNone(elsewhere(url, ()))

    def test_options(self) -> None:
        """The options read the same patterns, and their errors name the option."""
        for name in OPTIONS:
            options = ProxyOptions()
            options.parseOptions([f"--{name}={case['pattern']}" for case in TABLE["patterns"]])
            self.assertEqual(
                options[name], [read_host_pattern(case["pattern"]) for case in TABLE["patterns"]]
            )
            read = getattr(ProxyOptions(), f"opt_{name.replace('-', '_')}")
            for text, fault in TABLE["wrong"].items():
                error = self.assertRaises(usage.UsageError, read, text or ":")
                self.assertTrue(str(error).startswith(f"--{name}: the pattern {text or ':'!r} "))
                self.assertIn(fault, str(error))


class AnyPatternTests(SynchronousTestCase):
    """What holds for every text."""

    @profile(500)
    @given(st.text(st.characters() | st.sampled_from("*.:[]/{}@?#0x1"), max_size=30), st.text())
    def test_any_text(self, text: str, host: str) -> None:
        """A text is read or refused with one error, and what was read can be asked."""
        try:
            pattern = read_host_pattern(text)
        except PatternError:
            return
        self.assertEqual(read_host_pattern(pattern.text), pattern)
        for each in (host, text):
            matches_any([pattern], each, 80)
            is_under_test([pattern], each, 80)

    @given(st.text("ab1.:[]0x", max_size=12))
    def test_itself(self, text: str) -> None:
        """A pattern without wildcards matches the host that it names."""
        try:
            pattern = read_host_pattern(text)
        except PatternError:
            return
        origin = read_origin("http", pattern.text.encode())
        self.assertTrue(matches_any([pattern], origin.host, origin.port), text)

    @profile(200)
    @given(st.data())
    def test_wildcards(self, data: st.DataObject) -> None:
        """A host some of whose characters became wildcards is matched, in little time."""
        host = data.draw(st.text("abc.-", min_size=1, max_size=20)).strip(".") + "x"
        assume(".." not in host)
        marks = data.draw(st.lists(st.sampled_from("*?="), min_size=len(host), max_size=len(host)))
        pairs = zip(host, marks, strict=True)
        wild = "".join(each if mark == "=" else mark for each, mark in pairs)
        self.assertTrue(matches_any([read_host_pattern(wild)], host, 80), (wild, host))

    def test_many_stars(self) -> None:
        """A pattern of many stars takes no time that grows with their number."""
        pattern = read_host_pattern("*a" * 900 + "b")
        self.assertFalse(matches_any([pattern], "a" * 100_000, 80))


SHORT = st.text("ab.", max_size=6)


class StarredTextTests(SynchronousTestCase):
    """A star is any text."""

    @profile(300)
    @given(st.lists(SHORT, min_size=1, max_size=4), SHORT)
    def test_as_a_regular_expression(self, pieces: list[str], text: str) -> None:
        """It matches what the pieces with ``.*`` between them match."""
        expected = re.fullmatch(".*".join(map(re.escape, pieces)), text) is not None
        self.assertEqual(matches_starred(pieces, text), expected)

    @profile(300)
    @given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
    def test_question_marks(self, pattern: str, text: str) -> None:
        """A question mark is one character, among any stars."""
        self.assertEqual(matches_wildcards(pattern, text), fnmatchcase(text, pattern))

    def test_linear(self) -> None:
        """Many stars cost no more than the text is long."""
        self.assertFalse(matches_starred(["a"] * 1000 + ["b"], "a" * 100_000))
        self.assertFalse(matches_wildcards("*a?" * 1000 + "b", "a" * 100_000))
