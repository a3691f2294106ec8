"""What pages show of the code is current."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from twisted.trial.unittest import SynchronousTestCase

from docs.terminal_pictures import COMMANDS, FOLDER, svg
from tests.command.recorded_proxy import CommandTestCase
from tests.interop.clients.clients import ATTACHED, CLIENTS, Client
from tests.interop.clients.faults.fault_table import HEADS
from tests.interop.clients.faults.outcomes import WAYS
from tests.interop.clients.node.libraries import LIBRARIES
from tests.interop.clients.node.report import HEAD
from tests.interop.clients.table import TITLES
from tests.interop.npm.specs import unless_deep
from tests.support.processes.proxy_process import REPOSITORY
from tests.testing import table
from tools import architecture


class PictureTests(SynchronousTestCase):
    """Drawn from the imports."""

    def test_up_to_date(self) -> None:
        """The picture is as the source is; ``python -m tools.architecture`` draws it anew."""
        self.assertEqual(architecture.PICTURE.read_text(encoding="utf-8"), architecture.draw())

    def test_all_packages(self) -> None:
        """Every package of the product is in the picture."""
        packages = {path.parent.name for path in (REPOSITORY / "trafficmock").glob("*/__init__.py")}
        self.assertEqual(packages - architecture.MEANINGS.keys(), set())


ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "testing-rules.md"
HEADING = f"| Rule | {' | '.join(table.HEADINGS)} |"
SECONDS = 400


def shown() -> str:
    """Give the page from its table on."""
    _, heading, rest = PAGE.read_text().partition(HEADING)
    return heading + rest


class RulesTests(SynchronousTestCase):
    """``docs/testing-rules.md``."""

    def test_every_rule_is_there(self) -> None:
        """Each row is in the table, in its place, and none fails."""
        _, _, *lines = [line for line in shown().splitlines() if line.startswith("|")]
        rules = [line.split(" | ")[0].removeprefix("| ") for line in lines]
        self.assertEqual(rules, list(table.statements().values()))
        self.assertNotIn("FAILS", shown())

    def test_it_is_what_running_gives(self) -> None:
        """The rules end as the table says."""
        command = [sys.executable, "-m", "tests.testing.table"]
        finished = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=True
        )
        self.assertEqual(finished.stdout.strip(), shown().strip())

    test_it_is_what_running_gives.skip = unless_deep()  # type: ignore[attr-defined] # trial's


_TEXT = "{http://www.w3.org/2000/svg}text"


def lines(picture: str) -> list[str]:
    """Read what a picture shows."""
    texts = ET.fromstring(picture).iter(_TEXT)  # noqa: S314 - our own picture
    return ["".join(text.itertext()).replace("\u00a0", " ") for text in texts]


class DrawingTests(SynchronousTestCase):
    """Text as SVG."""

    def test_same_text(self) -> None:
        """The picture has the lines of the terminal, with what XML would misread."""
        drawn = svg("trafficmock x", "\x1b[2ma  <b>\x1b[0m &\n\nlast\n")
        self.assertEqual(lines(drawn), ["$ trafficmock x", "a  <b> &", "", "last"])


class CommittedTests(CommandTestCase):
    """The pictures that the pages show."""

    def test_up_to_date(self) -> None:
        """They show the commands they name, with the columns that these have today."""
        for name, words in COMMANDS.items():
            command, *shown = lines((FOLDER / f"terminal-{name}.svg").read_text())
            self.assertEqual(command, f"$ trafficmock {' '.join(words)}")
            if name == "history":
                head = self.run_command("history").out.splitlines()[0]
                self.assertEqual(shown[0].split(), head.split())
            else:
                self.assertLessEqual({"Request", "Response", "Timeline"}, set(shown))


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

    def test_faults(self) -> None:
        """``python -m tests.interop.clients.faults``."""
        found = rows(CLIENTS_PAGE, "fault errors")
        titles = [client.title for clients in WAYS.values() for client in clients]
        self.assert_complete(found, HEADS, titles)

    def test_node_libraries(self) -> None:
        """``python -m tests.interop.clients.node``."""
        found = rows(CLIENTS_PAGE, "node libraries")
        self.assert_complete(found, HEAD, [library.title for library in LIBRARIES])
