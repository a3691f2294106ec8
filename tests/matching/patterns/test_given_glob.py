"""Globs as tests give them: with a base URL, and with errors."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.patterns.given_glob import GivenGlob
from trafficmock.matching.patterns.glob_tokens import GlobError

BASE = "http://Shop.test/v1/"


class GivenGlobTests(SynchronousTestCase):
    """What workers give, and what is compared."""

    def test_absolute(self) -> None:
        """A relative glob is resolved; one that means the same without a base stays as it is."""
        self.assertEqual(GivenGlob("/prices/*", BASE).absolute(), "http://shop.test/prices/*")
        self.assertEqual(GivenGlob("cup", BASE, websocket=True).absolute(), "ws://shop.test/v1/cup")
        for glob in ("", "**/prices", "HTTP://Shop.test/a", "http*://**/a"):
            self.assertEqual(GivenGlob(glob, BASE).absolute(), glob)

    def test_not_absolute(self) -> None:
        """A relative glob without a base, or with a base that is none, has no absolute form."""
        for base in (None, "nowhere"):
            self.assertIsNone(GivenGlob("/prices/*", base).absolute())

    def test_absolute_with_a_base_that_is_none(self) -> None:
        """A glob that needs no base means the same with one that is no URL, wherever it is used."""
        given = GivenGlob("HTTP://Shop.test", "nowhere")
        self.assertEqual(given.absolute(), "HTTP://Shop.test")
        self.assertTrue(given.compile().fullmatch("http://shop.test/"))
        self.assertEqual(given.javascript(), r"^http:\/\/shop\.test\/$")

    def test_no_path(self) -> None:
        """A glob that ends within the host is an error, except for WebSockets."""
        for glob in ("https://**", "http*://**", "https://h.test:8000**"):
            error = self.assertRaises(GlobError, GivenGlob(glob).compile)
            self.assertIn(f"{glob!r} has no path", str(error))
            self.assertIn(f"write '{glob}/*'", str(error))
            GivenGlob(glob, websocket=True).compile()
        for glob in ("**", "*://**", "https://*", "https://h.test", "https://h.test/**"):
            GivenGlob(glob).compile()

    def test_unix_sockets(self) -> None:
        """The path of a UNIX socket is percent-encoded, in any case; as it is, it is an error."""
        given = GivenGlob("HTTP+unix://%2frun%2fd.sock/v1/*", BASE)
        self.assertEqual(given.absolute(), "HTTP+unix://%2frun%2fd.sock/v1/*")
        self.assertTrue(given.compile().fullmatch("http+unix://%2Frun%2Fd.sock/v1/info"))
        self.assertEqual(given.javascript(), r"^http\+unix:\/\/%2Frun%2Fd\.sock\/v1\/[^/]*$")
        for glob in (
            "http+unix:///run/d.sock/info",
            "http+unix:/run/d.sock",
            "http+unix:d.sock",
            "unix:///run/d.sock",
            "unix:/run/d.sock:/info",
            "UNIX://%2Frun%2Fd.sock/info",
        ):
            error = self.assertRaises(GlobError, GivenGlob(glob, BASE).compile)
            self.assertIn(f"{glob!r} names no UNIX socket", str(error))

    def test_javascript(self) -> None:
        """The regular expression has the parts of the glob, and escapes what it has itself."""
        self.assertEqual(GivenGlob("").javascript(), "^")
        self.assertEqual(GivenGlob("a*/**/{b,c+}", BASE).javascript(), self.EXPECTED)
        self.assertRaises(GlobError, GivenGlob("**/{a").javascript)

    EXPECTED = r"^http:\/\/shop\.test\/v1\/a[^/]*\/(?:.+/)?(?:b|c\+)$"
