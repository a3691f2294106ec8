"""Patterns of origins: what they match, and which cannot match any."""

import random

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.host_pattern import PatternError
from trafficmock.matching.origin_pattern import read_origin_pattern
from trafficmock.proxy.request_target import absolute

HOSTS = st.sampled_from(["shop.test", "a-b.shop.test", "localhost", "10.0.0.x", "xn--bcher-kva.ch"])
PORTS = st.integers(1, 65535).filter(lambda port: port not in (80, 443))


def matches(pattern: str, url: str) -> bool:
    origin = absolute(url.encode()).origin
    return read_origin_pattern(pattern).matches(origin.scheme, origin.host, origin.port)


@st.composite
def with_wildcards(draw: st.DrawFn) -> tuple[str, str]:
    """Make an origin, and a pattern that some of its characters have become."""
    host = draw(HOSTS)
    port = draw(st.one_of(st.just(""), PORTS.map(":{}".format)))
    scheme = draw(st.sampled_from(["http", "https"]))
    places = random.Random(draw(st.integers()))  # noqa: S311 - of a test
    wild = "".join(
        places.choice("*?") if places.random() < 0.2 and each != ":" else each
        for each in host + port
    )
    schemes = draw(st.sampled_from([scheme, "*", "http*", scheme.upper()]))
    return f"{scheme}://{host}{port}/", f"{schemes}://{wild}"


class OriginTests(SynchronousTestCase):
    """What a pattern of origins matches."""

    def test_origins(self) -> None:
        """Scheme, host and port count; the default port may be left out or written."""
        for pattern, matching, others in (
            (
                "http://shop.test",
                ["http://SHOP.test/"],
                ["https://shop.test/", "ws://shop.test:8/"],
            ),
            ("http://shop.test:80", ["http://shop.test/"], ["http://shop.test:8080/"]),
            ("https://shop.test:443", ["https://shop.test/"], ["https://shop.test:80/"]),
            ("HTTP*://shop.test", ["http://shop.test/", "wss://shop.test/"], ["http://a.test/"]),
            ("*://shop.test", ["https://shop.test/"], ["https://shop.test:80/"]),
            ("http://*.Shop.test:8000", ["http://a.shop.test:8000/"], ["http://a.shop.test/"]),
            ("http://localhost:*", ["http://localhost/", "http://localhost:3/"], ["http://a:3/"]),
            ("http://shop*", ["http://shop.test:8000/", "http://shop/"], ["http://a.shop/"]),
            ("http://*:80?0", ["http://a:8010/"], ["http://a:810/"]),
            ("http://[::1]:3000", ["http://[::1]:3000/"], ["http://[::1]:3001/"]),
            ("http://[fd00::*]", ["http://[fd00::7]/"], ["http://[fd00::7]:81/"]),
            ("*", ["http://a:1/", "https://[::1]/"], []),
            ("http://bücher.ch", ["http://xn--bcher-kva.ch/"], []),
        ):
            for url in matching:
                self.assertTrue(matches(pattern, url), (pattern, url))
            for url in others:
                self.assertFalse(matches(pattern, url), (pattern, url))

    def test_mistakes(self) -> None:
        """What no origin can match is refused with what is wrong."""
        for pattern, fault in (
            ("", "has no scheme"),
            ("shop.test", "has no scheme"),
            ("shop.test:3000", "has no scheme"),
            ("//shop.test", "has no scheme"),
            ("http:shop.test", "has no scheme"),
            ("ws://shop.test", "has another scheme"),
            ("http://", "names no host"),
            ("http://shop.test/", "an origin has no path"),
            ("http://*.test/*", "an origin has no path"),
            ("http://shop.test:65536", "has a wrong port"),
            ("http://shop.test:0", "has a wrong port"),
            ("http://shop.test:" + "9" * 5000, "more than"),
            ("http://a:1:2", "in brackets"),
            ("http://::1", "in brackets"),
            ("http://user@shop.test", "is no host"),
            ("http://shop test", "is no host"),
        ):
            error = self.assertRaises(PatternError, read_origin_pattern, pattern)
            self.assertIn(fault, str(error), pattern)
            self.assertTrue(str(error).startswith(f"the pattern {pattern!r}"[:100]), str(error))

    @profile(200)
    @given(with_wildcards())
    def test_wildcards(self, case: tuple[str, str]) -> None:
        """An origin some of whose characters became wildcards is matched."""
        url, pattern = case
        self.assertTrue(matches(pattern, url), case)

    @profile(500)
    @given(st.text(st.sampled_from("http://[]*?.:@1280a\n"), max_size=30))
    def test_any_text(self, text: str) -> None:
        """A text without wildcards is right only where it can be the text of an origin."""
        try:
            read_origin_pattern(text)
        except PatternError:
            return
        if not set("*?") & set(text):
            scheme, _, authority = text.partition("://")
            self.assertIn(scheme, ("http", "https"))
            self.assertNotIn("/", authority)
            self.assertEqual(text, text.strip())
