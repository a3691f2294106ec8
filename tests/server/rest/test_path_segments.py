"""Path segments are decoded after splitting, and only when they can be."""

from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.rest.path_segments import decode_segment, is_plain_path


class SegmentTests(SynchronousTestCase):
    """Ids in paths."""

    def test_escapes(self) -> None:
        """Escapes are undone, a slash among them; a plus is a plus."""
        self.assertEqual(decode_segment("a%2Fb%20c+%C3%A9%25"), "a/b c+é%")

    def test_bad(self) -> None:
        """Half an escape, a wrong one, and what is not UTF-8 name nothing."""
        for raw in ("%", "%2", "a%zz", "%ff", "%C3", "%ED%A0%80"):
            self.assertIsNone(decode_segment(raw), raw)

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_round_trip(self, text: str) -> None:
        """Every text that can be escaped comes back."""
        self.assertEqual(decode_segment(quote(text, safe="")), text)

    @given(st.text(alphabet="%0123456789abcdefABCDEFxyz"))
    def test_anything(self, raw: str) -> None:
        """No escape makes it raise."""
        decode_segment(raw)

    def test_plain_paths(self) -> None:
        """Doubled slashes, bytes that are not ASCII and relative paths are no paths."""
        for path in (b"/", b"/api/history/%ff", b"/a/"):
            self.assertTrue(is_plain_path(path), path)
        for path in (b"", b"*", b"//", b"//health", b"/api//history", b"/\xa0"):
            self.assertFalse(is_plain_path(path), path)
