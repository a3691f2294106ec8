"""Results kept in files, so that a table can be made of several runs."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict

from tests.interop.clients.node.cells import Cell, judged
from tests.interop.clients.node.comparison.compare import Change
from tests.interop.clients.node.libraries import LIBRARIES


def save(file: Path, cells: Sequence[Cell]) -> None:
    """Write cells of which all calls were made, with all that differed."""
    file.write_text(json.dumps([_plain(cell) for cell in cells], indent=1), encoding="utf-8")


def _plain(cell: Cell) -> dict[str, Any]:
    return {
        "library": cell.library.name,
        "version": cell.library.version(),
        "node": cell.node,
        "mode": cell.mode,
        "calls": cell.calls,
        "changes": [asdict(change) for change in cell.changes],
    }


def load(files: Iterable[Path]) -> list[Cell]:
    """
    Read saved cells, and judge them by the differences that are declared now.

    :param files: of the same cell in several of them, the last counts.
    :returns: in the order of the libraries.
    :raises ValueError: a library is installed in another version than it was run in.
    """
    cells: dict[tuple[str, int, str], Cell] = {}
    for file in files:
        for saved in json.loads(file.read_text(encoding="utf-8")):
            cells[saved["library"], saved["node"], saved["mode"]] = _cell(file, saved)
    order = [library.name for library in LIBRARIES]
    return sorted(cells.values(), key=lambda cell: (order.index(cell.library.name), cell.node))


def _cell(file: Path, saved: dict[str, Any]) -> Cell:
    library = next(each for each in LIBRARIES if each.name == saved["library"])
    if saved["version"] != library.version():
        raise ValueError(
            f"{file}: {library.name} {saved['version']} was run, "
            f"and {library.version()} is installed. Run it again."
        )
    found = tuple(Change(**change) for change in saved["changes"])
    return judged(library, saved["node"], saved["mode"], saved["calls"], found, whole=True)
