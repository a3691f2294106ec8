"""The table of the test side's rules is what running them gives."""

import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.npm.specs import unless_deep
from tests.testing import table

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
