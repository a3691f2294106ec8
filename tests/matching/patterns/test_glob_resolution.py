"""Requirements on :mod:`trafficmock.matching.patterns.glob_resolution`."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.patterns.glob_resolution import needs_base, resolve


class NeedsBaseTests(SynchronousTestCase):
    """Relative globs are recognised."""

    def test_absolute(self) -> None:
        """Globs that mean the same under every base need none."""
        for glob in ("", "*", "**/x", "about:blank", "data:x", "file:/x", "http://h", "WSS://h/"):
            self.assertFalse(needs_base(glob), glob)
        for glob in ("http*://h", "{http,https}://h", "ws:///h"):
            self.assertFalse(needs_base(glob), glob)

    def test_relative(self) -> None:
        """Everything else is relative to the base of a test."""
        for glob in ("/x", "x", "../x", "?q", "//h/x", "h.test/x", "http:h/x", "http://", "http:"):
            self.assertTrue(needs_base(glob), glob)
        for glob in ("ftp://h/x", "{a}/x", " http://h/", "FILE:/x"):
            self.assertTrue(needs_base(glob), glob)


class ResolveTests(SynchronousTestCase):
    """Globs are resolved like URLs."""

    def test_literal_parts_become_canonical(self) -> None:
        """Text without wildcards gets the form in which requests carry it."""
        for glob, resolved in (
            ("HTTP://H.TEST/Users", "http://h.test/Users"),
            ("http://h.test", "http://h.test/"),
            ("http://h.test:80/é b", "http://h.test/%C3%A9%20b"),
            ("http://bücher.test/x", "http://xn--bcher-kva.test/x"),
            ("http://h.test/a/../b/*", "http://h.test/b/*"),
        ):
            self.assertEqual(resolve(glob), resolved)

    def test_wild_parts_stay(self) -> None:
        """Parts with wildcards are kept, in lower case where case does not matter."""
        for glob, resolved in (
            ("http://*.Test:*/É*/A?B=É*", "http://*.test:*/É*/A?B=É*"),
            ("{HTTP,ws}://H.test", "{http,ws}://h.test/"),
            ("http://h.test/\\\\?q", "http://h.test/?q"),
            ("http://h.test/w0z0z*/*", "http://h.test/w0z0z*/*"),
        ):
            self.assertEqual(resolve(glob), resolved)

    def test_base(self) -> None:
        """Relative globs are resolved against the base, http standing for ws if asked."""
        self.assertEqual(resolve("../x*", base_url="HTTP://h.test/v1/"), "http://h.test/x*")
        self.assertEqual(resolve("/s", base_url="HTTPS://h.test", websocket=True), "wss://h.test/s")
        self.assertEqual(resolve("/s", base_url=""), "/s")

    def test_unparsable_text_stays(self) -> None:
        """What no URL parser accepts is kept literally."""
        self.assertEqual(resolve("/api/*"), "/api/*")
        self.assertEqual(resolve("http://h.test:99999/*"), "http://h.test:99999/*")

    @given(st.text(max_size=30), st.none() | st.text(max_size=20), st.booleans())
    def test_any_text(self, glob: str, base_url: str | None, websocket: bool) -> None:  # noqa: FBT001 - hypothesis passes it
        """Any text can be resolved, and resolving is repeatable."""
        once = resolve(glob, base_url=base_url, websocket=websocket)
        self.assertEqual(resolve(glob, base_url=base_url, websocket=websocket), once)

    @given(st.text(alphabet="w0z1/*?", max_size=20))
    def test_placeholders_are_never_seen(self, path: str) -> None:
        """No glob text is taken for a placeholder."""
        self.assertEqual(resolve(f"http://h.test/*{path}*"), f"http://h.test/*{path}*")
