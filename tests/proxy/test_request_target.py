"""What requests are aimed at."""

import time
from functools import partial

import ada_url
from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.growth import GrowthMixin
from trafficmock.http.hosts import Authority
from trafficmock.proxy import request_target
from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.request_target import Origin


class AbsoluteTests(SynchronousTestCase):
    """Absolute-form (RFC 9112 section 3.2.2)."""

    def test_read(self) -> None:
        """The server is normal, the path as it was sent, the URL as tests know it."""
        for sent, origin, path, url in (
            (b"http://a.test/x?y", Origin("http", "a.test", 80), b"/x?y", "http://a.test/x?y"),
            (b"HTTP://A.Test:80", Origin("http", "a.test", 80), b"/", "http://a.test/"),
            (
                b"http://a.test:8080?q",
                Origin("http", "a.test", 8080),
                b"/?q",
                "http://a.test:8080/?q",
            ),
            (b"https://a.test/", Origin("https", "a.test", 443), b"/", "https://a.test/"),
            (b"ws://a.test/", Origin("http", "a.test", 80), b"/", "http://a.test/"),
            (b"http://[::1]:90/", Origin("http", "::1", 90), b"/", "http://[::1]:90/"),
            (b"http://a.test/a/../b", Origin("http", "a.test", 80), b"/a/../b", "http://a.test/b"),
            (b"http://a.test/|", Origin("http", "a.test", 80), b"/|", "http://a.test/|"),
            (b"http://a.test/'\"", Origin("http", "a.test", 80), b"/'\"", "http://a.test/'%22"),
        ):
            found = request_target.absolute(sent)
            self.assertEqual((found.origin, found.path, found.url), (origin, path, url), sent)

    def test_refused(self) -> None:
        """Other schemes, users, and nonsense are refused."""
        for sent in (
            b"ftp://a.test/",
            b"/x",
            b"x",
            b"http:/a",
            b"http://",
            b"http://u@a.test/",
            b"http://u:p@a.test/",
            b"http://a.test:0/",
            b"http://a.test:99999/",
            b"http://a b/",
            b"http://[::1/",
        ):
            self.assertRaises(BadMessageError, request_target.absolute, sent)

    def test_options(self) -> None:
        """OPTIONS for a server as a whole is ``*`` there (RFC 9112 section 3.2.4)."""
        self.assertEqual(request_target.absolute(b"http://a.test", b"OPTIONS").path, b"*")
        self.assertEqual(request_target.absolute(b"http://a.test/", b"OPTIONS").path, b"/")

    @given(st.text(alphabet='htps:/@[]%?#*.a1 "|', max_size=30).map(lambda text: text.encode()))
    def test_any_input(self, text: bytes) -> None:
        """Nothing but a BadMessageError is raised."""
        try:
            found = request_target.absolute(b"http://" + text)
        except BadMessageError:
            return
        self.assertTrue(found.path.startswith(b"/"))


class OriginTests(SynchronousTestCase):
    """Servers, and CONNECT."""

    def test_authority(self) -> None:
        """The default port is left out, IPv6 has brackets."""
        self.assertEqual(str(Origin("https", "::1", 443)), "https://[::1]")
        self.assertEqual(Origin("https", "a", 80).authority, "a:80")

    def test_connect(self) -> None:
        """CONNECT names host and port."""
        self.assertEqual(request_target.connect_authority(b"A.test:443"), Authority("a.test", 443))
        for text in (b"a.test", b"a.test:", b":443", b"http://a.test:443", b"a:0", b"a:b"):
            self.assertRaises(BadMessageError, request_target.connect_authority, text)


def long_target(piece: bytes, end: bytes, size: int) -> bytes:
    return b"http://a.test/" + piece * size + end


class PathTests(GrowthMixin, SynchronousTestCase):
    """Paths, which servers' names for things make long and odd."""

    def test_odd_character(self) -> None:
        """A path with an odd character behind many others is read at once."""
        begun = time.process_time()
        for odd in (b"/%s'", b"/%s/.well-known/x", b'/%s?"', b"/%s/{x}"):
            request_target.absolute(b"http://a.test" + odd % (b"a" * 24))
        self.assertLess(time.process_time() - begun, 0.5)

    def test_long(self) -> None:
        """The time to read a path is in proportion to its length, whatever is in it."""
        for piece in (b"a", b"a/", b"/", b"ab.", b"%41", b"'", b"?"):
            for end in (b"", b"'", b"/.x"):
                made = partial(long_target, piece, end)
                self.assert_linear(made, request_target.absolute, 30_000)

    @example("a/%2e%2e/b")
    @example("a/.%2E/b")
    @example("%2e?%2e")
    @given(st.text(alphabet="ab./%2eE'\"?{}~+@:", max_size=30))
    def test_as_a_url_parser(self, path: str) -> None:
        """The URL that tests see is the one that a URL parser writes."""
        found = request_target.absolute(f"http://a.test/{path}".encode())
        self.assertEqual(found.url, ada_url.URL(f"http://a.test/{path}").href)
