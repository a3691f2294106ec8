"""The tables of clients have a row and a column for each, and no cell that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.clients import ATTACHED, CLIENTS
from tests.interop.clients.node.libraries import LIBRARIES
from tests.interop.clients.node.report import HEAD
from tests.interop.clients.table import TITLES
from tests.support.processes.proxy_process import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.interop.clients.clients import Client

DOCS = REPOSITORY / "docs"
CLIENTS_PAGE = DOCS / "clients.md"
PYTHON_PAGE = DOCS / "how-to" / "attach" / "python.md"


def rows(page: Path, name: str) -> list[list[str]]:
    """Give the cells of the table between two comments, without the line below its head."""
    _, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} begin: ")
    text, end, _ = rest.partition(f"<!-- {name} end -->")
    assert end, f"no {name}"
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    head, _, *others = [[cell.strip() for cell in line] for line in lines]
    return [head, *others]


class ClientTablesTests(SynchronousTestCase):
    """What running the clients printed was printed with all that are there now."""

    def assert_complete(self, found: list[list[str]], heads: Sequence[str], first: object) -> None:
        self.assertEqual(found[0], list(heads))
        self.assertEqual([row[0] for row in found[1:]], first)
        states = [cell for row in found for cell in row]
        self.assertEqual([state for state in states if "FAILED" in state], [])

    def assert_has_all(self, found: list[list[str]], clients: Sequence[Client]) -> None:
        heads = ["Feature", *(client.title for client in clients)]
        self.assert_complete(found, heads, list(TITLES.values()))

    def test_clients(self) -> None:
        """``python -m tests.interop.clients``: those that are told of the proxy."""
        self.assert_has_all(rows(CLIENTS_PAGE, "clients"), CLIENTS)

    def test_attached(self) -> None:
        """``python -m tests.interop.clients``: those that load the preload."""
        self.assert_has_all(rows(PYTHON_PAGE, "attached clients"), ATTACHED)

    def test_node_libraries(self) -> None:
        """``python -m tests.interop.clients.node``."""
        found = rows(CLIENTS_PAGE, "node libraries")
        self.assert_complete(found, HEAD, [library.title for library in LIBRARIES])
