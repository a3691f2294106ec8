"""Words of clients in the log."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.net.notes import MOST_CHARACTERS, one_line


class OneLineTests(SynchronousTestCase):
    """One line for people, whatever is in it."""

    def test_ordinary(self) -> None:
        """Printable text stays as it is, in any script."""
        for text in ("", "agent 'api' sent Größe", "日本語", "x" * MOST_CHARACTERS):
            self.assertEqual(one_line(text), text)

    def test_forged(self) -> None:
        """Neither a second line, nor a terminal's escape, nor half a character gets through."""
        for text, shown in (
            ("a\nerror b", r"a\nerror b"),
            ("\x1b[31mred", r"\x1b[31mred"),
            ("\ud800", r"\ud800"),
            ("a\u2028b\u202eb", r"a\u2028b\u202eb"),
        ):
            self.assertEqual(one_line(text), shown)

    def test_long(self) -> None:
        """A name of megabytes is cut."""
        line = one_line("n" * 5_000_000)
        self.assertEqual((len(line), line[-1]), (MOST_CHARACTERS, "…"))

    @given(st.text(st.characters(exclude_categories=())))
    def test_anything(self, text: str) -> None:
        """Any text becomes a line that can be printed and encoded."""
        line = one_line(text)
        self.assertTrue(line.isprintable())
        line.encode()
