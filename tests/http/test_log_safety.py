"""Words of clients in the log."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.log_safety import (
    MOST_CHARACTERS,
    MOST_LINES,
    PERIOD_SECONDS,
    LogRateLimit,
    one_line,
)


class QuotaTests(SynchronousTestCase):
    """How many lines may be written."""

    def test_period(self) -> None:
        """Each period has its own number, and what was left out is told once."""
        quota = LogRateLimit()
        taken = [quota.take(5.0) for _ in range(MOST_LINES + 3)]
        self.assertEqual((taken.count(True), taken[-3:]), (MOST_LINES, [False] * 3))
        self.assertEqual(quota.left_out(5.0), 0)
        later = 5.0 + PERIOD_SECONDS
        self.assertEqual([quota.left_out(later), quota.left_out(later)], [3, 0])
        self.assertTrue(quota.take(later))


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
