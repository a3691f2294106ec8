"""Recorded text on a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command.output.terminal_text import cut, cut_middle, width
from trafficmock.redaction import printable

ANY = st.text(st.characters(), max_size=50)
"""Any characters, lone surrogates included."""


class WidthTests(SynchronousTestCase):
    """Columns, not characters."""

    def test_width(self) -> None:
        """Wide characters take two columns, combining marks none."""
        self.assertEqual([width(t) for t in ("abc", "日本", "e\u0301", "ﾃ", "")], [3, 4, 1, 1, 0])

    @given(ANY.map(printable), st.integers(0, 60))
    def test_cut(self, text: str, columns: int) -> None:
        """A cut text is never wider than allowed, and one that fits stays."""
        for shorten in (cut, cut_middle):
            self.assertLessEqual(width(shorten(text, columns)), columns)
            self.assertEqual(shorten(text, width(text)), text)

    def test_where(self) -> None:
        """An end is cut off with an ellipsis; a middle leaves both ends."""
        self.assertEqual(cut("日本語", 5), "日本…")
        self.assertEqual(cut_middle("http://a/very/long/path", 12), "http://a…ath")
