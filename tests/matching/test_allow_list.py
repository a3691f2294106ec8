"""The patterns of strict mode: what they allow, and what is wrong with others."""

from hypothesis import assume, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.allow_list import (
    MOST_PATTERNS,
    read_allow_list,
)
from trafficmock.matching.host_pattern import LONGEST_PATTERN, PatternError
from trafficmock.matching.patterns.framework_calls import (
    FRAMEWORK_CALLS,
    FrameworkCall,
    framework_call,
)
from trafficmock.matching.url_parts import url_parts

LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)
HOST = st.lists(LABEL, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "test"]))


def allows(pattern: str, url: str) -> bool:
    return read_allow_list([pattern]).allows(url, url_parts(url))


class AllowTests(SynchronousTestCase):
    """What a pattern allows, and what it does not."""

    def test_hosts(self) -> None:
        """A pattern without a slash is one of hosts, with or without a port."""
        for pattern, allowed, refused in (
            ("auth.test", "https://auth.test/a?b", "https://x.auth.test/"),
            ("*.example.com:8080", "http://a.example.com:8080/", "http://a.example.com/"),
            ("2001:DB8:0::1", "http://[2001:db8::1]:8/", "http://[2001:db8::2]/"),
            ("*", "http://any.test/", "not a URL"),
        ):
            self.assertTrue(allows(pattern, allowed), f"{pattern} {allowed}")
            self.assertFalse(allows(pattern, refused), f"{pattern} {refused}")

    def test_user_names(self) -> None:
        """What stands before the host is no host."""
        self.assertFalse(allows("auth.test", "http://auth.test@evil.test/"))
        self.assertFalse(allows("auth.test", "http://auth.test:80@evil.test/"))
        self.assertFalse(allows("http://auth.test:*/**", "http://auth.test:80@evil.test/a"))
        self.assertFalse(allows("http://*.test/**", "http://auth.test@evil.example/a"))
        self.assertTrue(allows("http://auth.test/**", "http://user:secret@auth.test/a?@"))
        self.assertTrue(allows("http://auth.test/a?token=b*", "http://me@auth.test/a?token=bc"))

    def test_globs(self) -> None:
        """A pattern with a slash is a glob for the whole URL, as in a route."""
        for pattern, allowed, refused in (
            ("https://auth.test/token*", "https://auth.test/token?a", "https://auth.test/users"),
            ("**/health", "http://h.test/a/health", "http://h.test/health?x"),
            ("wss://*.test/**", "wss://a.test/b/c", "ws://a.test/b/c"),
            ("*://auth.test/**", "http://auth.test/a", "http://auth.example/a"),
            ("http://auth.test/", "http://auth.test/", "http://auth.test/a"),
        ):
            self.assertTrue(allows(pattern, allowed), f"{pattern} {allowed}")
            self.assertFalse(allows(pattern, refused), f"{pattern} {refused}")

    def test_presets(self) -> None:
        """A preset allows what its framework sends for itself, and ``all`` what all do."""
        tags = "https://registry.npmjs.org/-/package/next/dist-tags"
        for pattern, url, expected in (
            ("preset:next", tags, True),
            ("preset:all", tags, True),
            ("preset:astro", tags, False),
            ("preset:next", "https://registry.npmjs.org/nextra", False),
            ("preset:next", "https://telemetry.nextjs.org:443/", True),
            ("preset:next", "https://telemetry.nextjs.org:443@evil.test/", False),
        ):
            self.assertEqual(allows(pattern, url), expected, f"{pattern} {url}")
        for wrong, said in (
            ("preset:nex", "did you mean preset:next? There are next, nuxt,"),
            ("preset:", "is no preset: There are next"),
        ):
            with self.assertRaises(PatternError) as caught:
                read_allow_list([wrong])
            self.assertIn(said, str(caught.exception))

    @given(st.text(), st.sampled_from(FRAMEWORK_CALLS), st.sampled_from(["", "/", ":", "@", "?"]))
    @profile(200)
    def test_any_url(self, text: str, call: FrameworkCall, between: str) -> None:
        """Only what goes to its host is a framework's own, whatever stands around that."""
        self.assertIsNone(framework_call(text))
        url = f"https://{call.host}{between}{text}"
        found, parts = framework_call(url), url_parts(url)
        if found is not None and parts is not None:
            self.assertEqual((parts.host, found.host), (call.host, call.host))

    def test_several(self) -> None:
        """One that allows it is enough, and the texts are kept as they were given."""
        both = read_allow_list(["A.test", "http://b.test/*"])
        self.assertEqual(both.texts, ("A.test", "http://b.test/*"))
        for url, expected in (("http://a.test/", True), ("http://b.test/", True), ("x:y", False)):
            self.assertEqual(both.allows(url, url_parts(url)), expected, url)

    @profile(200)
    @given(HOST, HOST, st.none() | st.integers(1, 65535))
    def test_only_that_host(self, host: str, other: str, port: int | None) -> None:
        """A host that is written out allows itself and no other."""
        assume(host != other)
        pattern = host if port is None else f"{host}:{port}"
        self.assertTrue(allows(pattern, f"http://{host}:{port or 8080}/"))
        self.assertFalse(allows(pattern, f"http://{other}:{port or 8080}/"))


class WrongPatternTests(SynchronousTestCase):
    """What cannot be read is refused with what is wrong and what to write."""

    def test_what_is_wrong(self) -> None:
        """Each names the pattern and the fault."""
        for pattern, fault in (
            ("", "'' names no host"),
            ("https:auth", "from 1 to 65535"),
            ("/v1/*", "no whole URL"),
            ("auth.test/v1/*", "no whole URL"),
            ("*.auth.test/v1/*", "no whole URL"),
            ("https://auth.test", "write HOST alone, or https://HOST/**"),
            ("https://**", "write HOST alone, or https://HOST/**"),
            ("*://auth.test:80", "write HOST alone, or https://HOST/**"),
            ("http://{a", "no '}' for the '{'"),
            ("**/\ud800", "lone surrogate"),
            ("a" * (LONGEST_PATTERN + 1), f"more than {LONGEST_PATTERN} characters"),
        ):
            error = self.assertRaises(PatternError, read_allow_list, ["good.test", pattern])
            self.assertIn(fault, str(error), pattern)
            self.assertLess(len(str(error)), 300)

    def test_too_many(self) -> None:
        """There is a limit to their number."""
        read_allow_list(["a.test"] * MOST_PATTERNS)
        error = self.assertRaises(PatternError, read_allow_list, ["a.test"] * (MOST_PATTERNS + 1))
        self.assertIn(f"at most {MOST_PATTERNS}", str(error))

    @profile(500)
    @given(st.text(st.characters() | st.sampled_from("*.:[]/{}@?#"), max_size=30), st.text())
    def test_any_text(self, pattern: str, url: str) -> None:
        """Any text is read or refused with one error, and what was read can be asked."""
        try:
            allowed = read_allow_list([pattern])
        except PatternError:
            return
        for each in (url, f"http://{url}/", pattern):
            allowed.allows(each, url_parts(each))
