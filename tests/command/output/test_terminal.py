"""What a terminal is given: its width and colours, and recorded text."""

import io
import os
import sys

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command.output.terminal import complain, standard_output
from trafficmock.command.output.terminal_text import cut, cut_middle, width
from trafficmock.texts.message_text import printable


class Screen(io.StringIO):
    """An output that is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


class TerminalTests(SynchronousTestCase):
    """Width and colours."""

    def setUp(self) -> None:
        self.patch(os, "environ", {"TERM": "xterm", "COLUMNS": "77"})

    def test_terminal(self) -> None:
        """A terminal has a width and takes colours."""
        self.patch(sys, "stdout", Screen())
        terminal = standard_output()
        self.assertEqual((terminal.width, terminal.coloured), (77, True))
        self.assertEqual(terminal.paint("x", "red"), "\x1b[31mx\x1b[0m")
        self.assertEqual(terminal.paint("x", None), "x")

    def test_pipe(self) -> None:
        """A pipe has neither, unless colours are asked for."""
        self.patch(sys, "stdout", io.StringIO())
        self.assertEqual((standard_output().width, standard_output().coloured), (None, False))
        self.assertTrue(standard_output("always").coloured)

    def test_no_color(self) -> None:
        """``NO_COLOR``, a dumb terminal and ``never`` are respected; an empty NO_COLOR is none."""
        self.patch(sys, "stdout", Screen())
        self.assertFalse(standard_output("never").coloured)
        for name, value, coloured in (
            ("NO_COLOR", "1", False),
            ("NO_COLOR", "", True),
            ("TERM", "dumb", False),
        ):
            self.patch(os, "environ", {"TERM": "xterm", name: value})
            self.assertEqual(standard_output().coloured, coloured)

    def test_poor_encoding(self) -> None:
        """An encoding that lacks a character shows an escape instead of failing."""
        raw = io.BytesIO()
        self.patch(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
        terminal = standard_output()
        terminal.line("日…")
        terminal.flush()
        self.assertEqual(raw.getvalue(), b"\\u65e5\\u2026\n")

    def test_complain(self) -> None:
        """What stands beside the output goes to standard error, with our name, escaped."""
        message = io.StringIO()
        self.patch(sys, "stderr", message)
        complain("so and \x1b[31mso")
        self.assertEqual(message.getvalue(), "trafficmock: so and \\x1b[31mso\n")


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
