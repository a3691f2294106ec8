"""Recorded text on a terminal."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.command.traffic import HOSTILE
from trafficmock.command.output.terminal_text import cut, cut_middle, printable, width

ANY = st.text(st.characters(), max_size=50)
"""Any characters, lone surrogates included."""


class PrintableTests(SynchronousTestCase):
    """Nothing recorded reaches a terminal raw."""

    @given(ANY)
    @example(HOSTILE)
    @example("\ud800")
    def test_prints(self, text: str) -> None:
        """Whatever the text, the result is one line without controls, and can be encoded."""
        shown = printable(text)
        self.assertTrue(shown.isprintable())
        shown.encode()

    def test_escapes(self) -> None:
        """Escapes say what stood there; what prints stays."""
        self.assertEqual(printable("a\x1b[31m\n\u202e é日本"), "a\\x1b[31m\\n\\u202e é日本")


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
