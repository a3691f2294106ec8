"""The Playwright package's own tests, against the proxy of this checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.node_parts import chromium
from tests.support.processes.process_group import run_group

PACKAGE = Path(__file__).parents[2] / "playwright"
SECONDS = 400


class PackageTestCase(SynchronousTestCase):
    """Runs files of ``playwright/test``."""

    def check(self, file: str, node: str | None = None) -> None:
        """Run a file.

        :param node: what it, Playwright and the application run on.
        """
        if not (PACKAGE / "node_modules" / "fflate").exists():
            self.fail("the package's npm packages are missing; run: npm ci --prefix playwright")
        node = node or shutil.which("node") or "node"
        env = {
            **os.environ,
            "PATH": f"{Path(node).parent}{os.pathsep}{os.environ['PATH']}",
            "TRAFFICMOCK_TEST_PYTHON": sys.executable,
            "NODE_OPTIONS": "",
            "E2E_CHROMIUM": str(chromium()),
        }
        # A file starts proxies and applications, which would outlive a runner that hangs.
        done = run_group([node, "--test", f"test/{file}"], SECONDS, cwd=PACKAGE, env=env)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])


class PackageTests(PackageTestCase):
    """Each file passes on the machine's Node."""

    def test_parts(self) -> None:
        """Matchers, HARs and redaction decide as documented."""
        self.check("parts.test.mjs")

    def test_globs(self) -> None:
        """The proxy reads the globs of tests, and refuses bad ones at the call."""
        self.check("globs.test.mjs")

    def test_connection(self) -> None:
        """A worker leaves a strict run as it was."""
        self.check("connection.test.mjs")

    def test_command_line(self) -> None:
        """Commands are quoted for the shell of each platform."""
        self.check("command-line.test.mjs")

    def test_core(self) -> None:
        """Tests without Playwright decide what they cause."""
        self.check("core.test.mjs")

    def test_in_process(self) -> None:
        """Tests that call the application in their own process, by supertest too."""
        self.check("in-process.test.mjs")

    def test_fixtures(self) -> None:
        """The fixtures in Playwright: parallel tests on one application, and what reports say."""
        self.check("fixtures.test.mjs")

    def test_recipes(self) -> None:
        """The recipes of the documentation do what their page says."""
        self.check("recipes.test.mjs")

    def test_types(self) -> None:
        """The JSDoc types hold, strictly."""
        compiler = PACKAGE / "node_modules" / "typescript" / "bin" / "tsc"
        argv = [shutil.which("node") or "node", str(compiler), "-p", "."]
        done = subprocess.run(argv, cwd=PACKAGE, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")
