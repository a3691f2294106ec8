"""The examples of the documentation: the shop, tested with each runner as a reader would."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.e2e.node_parts import MODULES, chromium, node_binary
from tests.testing import runs

FOLDER = runs.REPOSITORY / "docs" / "examples" / "shop"


class ShopTests(SynchronousTestCase):
    """Each runner passes its five tests."""

    def run_child(self, *arguments: str, **environment: str) -> str:
        folder = Path(self.mktemp()).resolve() / "shop"
        shutil.copytree(FOLDER, folder)
        (folder / "node_modules").symlink_to(MODULES)
        node = {"SHOP_NODE": str(node_binary())}
        environment |= node
        return runs.run(*arguments, environment=environment, cwd=folder, path=str(folder))

    def test_pytest(self) -> None:
        """In Chromium, with pytest-playwright."""
        chromium()
        self.assertIn("5 passed", self.run_child(*runs.pytest(), "test_with_pytest.py"))

    def test_async_pytest(self) -> None:
        """In Chromium, with pytest-playwright-asyncio."""
        chromium()
        if find_spec("pytest_playwright_asyncio") is None:
            self.fail("pytest-playwright-asyncio is missing; run: pip install -e '.[test]'")
        pytest = runs.pytest(browser="playwright-asyncio")
        self.assertIn("5 passed", self.run_child(*pytest, "test_with_async_pytest.py"))

    def test_side_by_side(self) -> None:
        """With xdist, each worker with a shop of its own."""
        pytest = runs.lean_pytest("xdist")
        output = self.run_child(*pytest, "-n", "2", "test_side_by_side.py", **runs.LEAN)
        self.assertIn("5 passed", output)

    def test_script(self) -> None:
        """In a script."""
        said = ["Thank you! Receipt R1.", "['http://payments.example/charges']"]
        self.assertEqual(self.run_child("script").splitlines(), said)

    def test_trial(self) -> None:
        """With trial."""
        self.assertIn("PASSED (successes=5)", self.run_child("twisted.trial", "test_with_trial"))

    def test_unittest(self) -> None:
        """With unittest, blocking and with asyncio."""
        for module in ("test_with_unittest", "test_with_asyncio"):
            output = self.run_child("unittest", module)
            self.assertRegex(output, r"Ran 5 tests[^\n]*\n\nOK")
