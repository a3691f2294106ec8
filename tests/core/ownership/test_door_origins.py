"""Which globs of origins a door can be given."""

from __future__ import annotations

import random
from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.core.ownership.door_origins import unmatchable

HOSTS = st.sampled_from(["shop.test", "a-b.shop.test", "localhost", "10.0.0.1", "xn--bcher-kva.ch"])
PORTS = st.integers(1, 65535).filter(lambda port: port not in (80, 443))


@st.composite
def globbed_origins(draw: st.DrawFn) -> tuple[str, str]:
    """Make an origin, and a glob that some of its characters have become."""
    host = draw(HOSTS)
    port = draw(st.one_of(st.just(""), PORTS.map(":{}".format)))
    scheme = draw(st.sampled_from(["http", "https"]))
    places = random.Random(draw(st.integers()))  # noqa: S311 - of a test
    globbed = "".join(
        places.choice("*?") if places.random() < 0.2 and each != ":" else each
        for each in host + port
    )
    wild = draw(st.sampled_from([scheme, "*", "http*", scheme.upper()]))
    return f"{scheme}://{host}{port}", f"{wild}://{globbed}"


class UnmatchableTests(SynchronousTestCase):
    """What is refused is a mistake, and nothing else is."""

    def test_mistakes(self) -> None:
        """Of several globs the first one that no origin can match is named."""
        for glob in (
            *("", "shop.test", "shop.test:3000", "//shop.test", "http:shop.test", "ws://shop.test"),
            *("http://", "http://shop.test/", "http://shop.test/cart", "http://*.test/*"),
            *("http://shop.test:80", "https://shop.test:443", "http://shop.test:65536"),
            *("http://shop.test:0", "http://shop.test:08", "http://shop.test:x", "http://a:1:2"),
            *("http://user@shop.test", "http://bücher.ch", "http://::1", "http://shop test"),
            "http://shop.test:" + "9" * 5000,
        ):
            self.assertEqual(unmatchable(["http://localhost", glob, "also wrong"]), glob)

    def test_right(self) -> None:
        """Globs of schemes, hosts and ports are right."""
        for glob in (
            *("*", "*://*", "http://*", "http*://shop.test", "http://SHOP.test", "https://a:80"),
            *("http://localhost:*", "http://[::1]:3000", "http://[fd00::*]", "http://*:80?0"),
        ):
            self.assertIsNone(unmatchable([glob]), glob)
        self.assertIsNone(unmatchable([]))

    @profile(200)
    @given(globbed_origins())
    def test_matching(self, case: tuple[str, str]) -> None:
        """A glob that does match an origin is never refused."""
        origin, glob = case
        assert fnmatchcase(origin, glob.lower())
        self.assertIsNone(unmatchable([glob]))

    @profile(500)
    @given(st.text(st.sampled_from("http://[]*?.:@1280a\n"), max_size=30))
    def test_any_text(self, text: str) -> None:
        """A text without wildcards is right only where it can be the text of an origin."""
        if unmatchable([text]) is None and not set("*?") & set(text):
            scheme, _, authority = text.partition("://")
            self.assertIn(scheme, ("http", "https"))
            self.assertNotIn("/", authority)
            self.assertEqual(text, text.strip())
