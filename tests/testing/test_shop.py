"""The examples of the documentation: the shop, tested with each runner as a reader would."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.e2e.node_parts import MODULES, chromium, node_binary

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "docs" / "examples" / "shop"
PLUGIN = "trafficmock.testing.pytest_plugin"
CHILD_SECONDS = 120.0


class ShopTests(SynchronousTestCase):
    """Each runner passes its five tests."""

    def run_child(self, *arguments: str) -> str:
        folder = Path(self.mktemp()).resolve() / "shop"
        shutil.copytree(FOLDER, folder)
        (folder / "node_modules").symlink_to(MODULES)
        env = {name: value for name, value in os.environ.items() if "TRAFFICMOCK_" not in name}
        env |= {"PYTHONPATH": f"{REPOSITORY}:{folder}", "SHOP_NODE": str(node_binary())}
        finished = subprocess.run(
            [sys.executable, "-m", *arguments],
            env=env,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
        return finished.stdout

    def test_pytest(self) -> None:
        """In Chromium, with pytest-playwright."""
        chromium()
        installed = any(each.value == PLUGIN for each in entry_points(group="pytest11"))
        plugin = () if installed else ("-p", PLUGIN)
        self.assertIn("5 passed", self.run_child("pytest", *plugin, "test_with_pytest.py"))

    def test_trial(self) -> None:
        """With trial."""
        self.assertIn("PASSED (successes=5)", self.run_child("twisted.trial", "test_with_trial"))

    def test_unittest(self) -> None:
        """With unittest, blocking and with asyncio."""
        for module in ("test_with_unittest", "test_with_asyncio"):
            output = self.run_child("unittest", module)
            self.assertRegex(output, r"Ran 5 tests[^\n]*\n\nOK")
