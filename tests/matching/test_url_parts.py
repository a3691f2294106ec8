"""URLs taken apart, and written for people."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.url_parts import UrlParts, shown_url, url_parts
from trafficmock.texts.wording import unredacted


class UrlPartsTests(SynchronousTestCase):
    """The parts that people compare."""

    def test_parts(self) -> None:
        """Ports are filled in, hosts are in lower case, IPv6 in brackets."""
        for url, expected in (
            ("http://H.test/a?b=1#c", UrlParts("http", "h.test", "80", "/a", "?b=1")),
            ("https://h.test", UrlParts("https", "h.test", "443", "/", "")),
            ("wss://u:p@[::0:1]:99/", UrlParts("wss", "[::1]", "99", "/", "")),
            ("https://bücher.example/", UrlParts("https", "xn--bcher-kva.example", "443", "/", "")),
        ):
            self.assertEqual(url_parts(url), expected, url)

    def test_no_url(self) -> None:
        """What no URL parser reads has no parts."""
        for text in ("", "/path", "data:,x", "http://", "http://[zz]/", "\ud800"):
            self.assertIsNone(url_parts(text), text)

    def test_authority(self) -> None:
        """The port of the scheme is left out."""
        for url, expected in (
            ("http://h.test:80/", "h.test"),
            ("https://h.test:80/", "h.test:80"),
            ("ws://[::1]:81/", "[::1]:81"),
        ):
            parts = url_parts(url)
            assert parts is not None
            self.assertEqual(parts.authority, expected)

    def test_shown(self) -> None:
        """Neither user name nor password nor fragment is shown, and not too much."""
        self.assertEqual(
            unredacted(shown_url("https://me:secret@h.test/a?b#c", 99)), "https://h.test/a?b"
        )
        self.assertEqual(shown_url("not a URL", 99), "not a URL")
        self.assertEqual(shown_url("http://me:secret@[zz]/", 99), "...@[zz]/")
        self.assertEqual(shown_url("http://h.test/" + "a" * 99, 20), "http://h.test/aaaaa…")

    @profile(300)
    @given(st.text(), st.integers(1, 50))
    def test_any_text(self, text: str, most: int) -> None:
        """Nothing is raised, whatever stands for a URL."""
        for url in (text, f"http://{text}/{text}"):
            url_parts(url)
            self.assertLessEqual(len(shown_url(url, most)), most)
