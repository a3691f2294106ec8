"""Tables whose columns fit their contents and the width of the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from trafficmock.command.output.terminal import Terminal
from trafficmock.command.output.terminal_text import cut, width

GAP = "  "


@frozen
class Cell:
    """One value of a row: printable text, and the name of its style."""

    text: str
    style: str | None = None


Row = Sequence[Cell]


@frozen(kw_only=True)
class Column:
    """The description of a column; widths are in columns of the terminal.

    :param least: the width to which it may be cut; ``None`` if it may not be cut.
    :param usual: the width to reserve while further rows are expected.
    :param drop: if there is no room, the column with the highest number is left out first; one
        with 0 never is.
    :param right: whether it is aligned to the right, for numbers.
    :param shorten: cuts a text to a width.
    """

    title: str
    least: int | None = None
    usual: int = 0
    drop: int = 0
    right: bool = False
    shorten: Callable[[str, int], str] = cut


@frozen
class Table:
    """Columns with their widths.

    :param widths: in columns of the terminal; ``None`` for a column that is left out.
    """

    columns: Sequence[Column]
    widths: Sequence[int | None]

    def head(self, terminal: Terminal) -> None:
        self._write(terminal, [Cell(column.title, "dim") for column in self.columns])

    def holds(self, rows: Sequence[Row]) -> bool:
        """Return whether rows fit without being cut."""
        return all(
            columns is None or width(cell.text) <= columns
            for row in rows
            for columns, cell in zip(self.widths, row, strict=True)
        )

    def row(self, terminal: Terminal, row: Row) -> None:
        self._write(terminal, row)

    def _write(self, terminal: Terminal, row: Row) -> None:
        shown = []
        for column, columns, cell in zip(self.columns, self.widths, row, strict=True):
            if columns is not None:
                text = column.shorten(cell.text, columns) if column.least else cell.text
                blanks = " " * (columns - width(text))
                painted = terminal.paint(text, cell.style)
                shown.append(blanks + painted if column.right else painted + blanks)
        terminal.line(GAP.join(shown))


def fitted(
    columns: Sequence[Column], rows: Sequence[Row], room: int | None, *, more: bool = False
) -> Table:
    """Make a table whose widths fit rows.

    :param room: the width of the terminal; ``None`` for no limit.
    :param more: whether to reserve the usual widths, because further rows are expected.
    """
    widths: list[int | None] = [
        max([width(column.title), *(width(row[at].text) for row in rows)])
        for at, column in enumerate(columns)
    ]
    if more:
        _reserve(columns, widths, room)
    while room is not None and (over := _total(widths) - room) > 0:
        if not _shrink(columns, widths, over) and not _drop(columns, widths):
            _squeeze(columns, widths, over)
            break
    return Table(columns, widths)


def _reserve(columns: Sequence[Column], widths: list[int | None], room: int | None) -> None:
    """Widen columns to their usual widths, as far as there is room."""
    for at, column in enumerate(columns):
        missing = max(0, column.usual - (widths[at] or 0))
        left = missing if room is None else max(0, room - _total(widths))
        widths[at] = (widths[at] or 0) + min(missing, left)


def widest(rows: Sequence[Row]) -> Row:
    """Make a row with the widest cell of each column."""
    return [max(cells, key=lambda cell: width(cell.text)) for cells in zip(*rows, strict=True)]


def _total(widths: Sequence[int | None]) -> int:
    shown = [columns for columns in widths if columns is not None]
    return sum(shown) + len(GAP) * (len(shown) - 1)


def _shrink(columns: Sequence[Column], widths: list[int | None], over: int) -> bool:
    """Narrow the column with the most spare width to that of the next one.

    :returns: whether a column could be narrowed.
    """
    spare = {
        at: have - column.least
        for at, (column, have) in enumerate(zip(columns, widths, strict=True))
        if have is not None and column.least is not None and have > column.least
    }
    # If all spare width is not enough, a column is left out before the others are cut.
    if not spare or (sum(spare.values()) < over and any(c.drop for c in _shown(columns, widths))):
        return False
    at = max(spare, key=spare.__getitem__)
    others = sorted(spare.values())[:-1]
    step = spare[at] - (others[-1] if others else 0)
    widths[at] = (widths[at] or 0) - max(1, min(step, spare[at], over))
    return True


def _drop(columns: Sequence[Column], widths: list[int | None]) -> bool:
    there = [at for at, have in enumerate(widths) if have is not None and columns[at].drop]
    if not there:
        return False
    widths[max(there, key=lambda at: columns[at].drop)] = None
    return True


def _squeeze(columns: Sequence[Column], widths: list[int | None], over: int) -> None:
    """Narrow the widest column below its least width, as the last resort."""
    flexible = [at for at, have in enumerate(widths) if have and columns[at].least]
    widest = max(flexible, key=lambda at: widths[at] or 0, default=None)
    if widest is not None:
        widths[widest] = max(1, (widths[widest] or 0) - over)


def _shown(columns: Sequence[Column], widths: Sequence[int | None]) -> list[Column]:
    return [column for column, have in zip(columns, widths, strict=True) if have is not None]
