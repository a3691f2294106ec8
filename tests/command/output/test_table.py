"""Tables."""

import io

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command.output.list_columns import REQUEST_COLUMNS
from trafficmock.command.output.table import Cell, Column, fitted, widest
from trafficmock.command.output.terminal import Terminal
from trafficmock.command.output.terminal_text import width
from trafficmock.texts.message_text import printable

COLUMNS = (
    Column(title="ID", least=3),
    Column(title="N", right=True, drop=1),
    Column(title="TEXT", least=4),
)
TEXTS = st.text(st.characters(), max_size=40).map(printable)


def table(
    columns: tuple[Column, ...],
    texts: list[list[str]],
    room: int | None,
    *,
    more: bool = False,
    coloured: bool = False,
) -> str:
    """Write a table of these texts."""
    out = io.StringIO()
    terminal = Terminal(out=out, width=room, coloured=coloured)
    rows = [[Cell(text, "red") for text in row] for row in texts]
    made = fitted(columns, rows, room, more=more)
    made.head(terminal)
    for row in rows:
        made.row(terminal, row)
    return out.getvalue()


class TableTests(SynchronousTestCase):
    """Rows below each other."""

    def test_holds(self) -> None:
        """A table tells whether further rows fit without being cut."""
        made = fitted(COLUMNS, [[Cell("abc"), Cell("7"), Cell("日本")]], None)
        self.assertTrue(made.holds([[Cell("ab"), Cell(""), Cell("four")]]))
        self.assertFalse(made.holds([[Cell("ab"), Cell("12"), Cell("日本x")]]))

    def test_widest(self) -> None:
        """The widest cell of each column, in columns of the terminal."""
        rows = [[Cell("abc"), Cell("1")], [Cell("日本"), Cell("")]]
        self.assertEqual([cell.text for cell in widest(rows)], ["日本", "1"])

    def test_without_limit(self) -> None:
        """Where there is no limit nothing is cut, and numbers stand to the right."""
        shown = table(COLUMNS, [["abc", "7", "日本"], ["a", "12", "x" * 90]], None)
        self.assertEqual(shown, f"ID    N  TEXT\nabc   7  日本\na    12  {'x' * 90}\n")

    def test_cut(self) -> None:
        """The widest is cut first, then what may go goes, then the least is cut."""
        texts = [["abcdefgh", "12", "x" * 20]]
        self.assertEqual(table(COLUMNS, texts, 24).splitlines()[1], f"abcdefgh  12  {'x' * 9}…")
        self.assertEqual(table(COLUMNS, texts, 9).splitlines()[1], "ab…  xxx…")
        self.assertEqual(table(COLUMNS, texts, 7).splitlines()[1], "ab…  x…")

    def test_colour(self) -> None:
        """Colours take no columns."""
        plain = table(COLUMNS, [["a", "1", "b"]], 20)
        coloured = table(COLUMNS, [["a", "1", "b"]], 20, coloured=True)
        self.assertIn("\x1b[31ma\x1b[0m ", coloured)
        bare = coloured.replace("\x1b[0m", "").replace("\x1b[31m", "").replace("\x1b[2m", "")
        self.assertEqual(bare, plain)

    @given(
        st.lists(
            st.lists(TEXTS, min_size=len(REQUEST_COLUMNS), max_size=len(REQUEST_COLUMNS)),
            max_size=4,
        ),
        st.integers(60, 200),
        st.booleans(),
    )
    def test_never_wider(self, texts: list[list[str]], room: int, more: bool) -> None:  # noqa: FBT001 - drawn
        """Whatever is recorded, no line of the list is wider than a terminal of 60 or more."""
        fixed = {at for at, column in enumerate(REQUEST_COLUMNS) if column.least is None}
        rows = [[t[:11] if at in fixed else t for at, t in enumerate(row)] for row in texts]
        narrow = [
            [t if width(t) < 12 or at not in fixed else "" for at, t in enumerate(r)] for r in rows
        ]
        for line in table(REQUEST_COLUMNS, narrow, room, more=more).splitlines():
            self.assertLessEqual(width(line), room)
