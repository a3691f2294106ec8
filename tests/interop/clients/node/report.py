"""The table of library by mode, in Markdown."""

from collections.abc import Sequence

from tests.interop.clients.node.cells import Cell
from tests.interop.clients.node.comparison import differences
from tests.interop.clients.node.libraries import Library
from tests.interop.clients.node.modes import ATTACHED

COLUMNS = ATTACHED
PASSED = "passthrough"
"""The column of ``fallback`` too."""
HEAD = ("Library", "Version", "Node", "Calls", *COLUMNS, "Exit")


def table(cells: Sequence[Cell]) -> str:
    """Write a row for each library, and below the table what is not as without the agent."""
    notes: dict[str, int] = {}
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for library in dict.fromkeys(cell.library for cell in cells):
        mine = [cell for cell in cells if cell.library is library]
        lines.append(f"| {' | '.join(_row(library, mine, notes))} |")
    below = [f"{number}. {reason}" for reason, number in notes.items()]
    return "\n".join([*lines, *([""] if below else []), *below]) + "\n"


def _row(library: Library, cells: Sequence[Cell], notes: dict[str, int]) -> list[str]:
    nodes = ", ".join(str(node) for node in dict.fromkeys(cell.node for cell in cells))
    calls = str(max(cell.calls for cell in cells))
    columns = [cell.mode if cell.mode in COLUMNS else PASSED for cell in cells]
    states = [
        _state([cell for cell, its in zip(cells, columns, strict=True) if its == column], notes)
        for column in COLUMNS
    ]
    late = any(change.path in {"exit", "status"} for cell in cells for change in cell.failed)
    return [library.title, library.version(), nodes, calls, *states, "FAILED" if late else "ok"]


def _state(cells: Sequence[Cell], notes: dict[str, int]) -> str:
    """Say what came of one mode on all Nodes, with the numbers of the notes."""
    if not cells:
        return "-"
    failed = [str(cell.node) for cell in cells if not cell.is_good]
    shown = {each for cell in cells for each in cell.declared if each.shown}
    wrong = [
        str(cell.node) for cell in cells if any(each in differences.WRONG for each in cell.declared)
    ]
    differs = f"differs ({', '.join(wrong)})"
    words = [f"FAILED ({', '.join(failed)})" if failed else differs if wrong else "ok"]
    reasons = sorted(each.reason for each in shown)
    words += [f"[{notes.setdefault(reason, len(notes) + 1)}]" for reason in reasons]
    return " ".join(words)
