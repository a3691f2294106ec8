"""The scripts of the pages, as TypeScript reads their JSDoc."""

import subprocess

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.node_parts import AGENT_MODULES
from tests.support.processes.proxy_process import REPOSITORY

TSC = AGENT_MODULES / ".bin" / "tsc"
STATIC = REPOSITORY / "trafficmock" / "dashboard" / "static"


class TypeTests(SynchronousTestCase):
    """Types without a build step."""

    def test_types(self) -> None:
        """All scripts are right about their types, strictly."""
        done = subprocess.run(
            [str(TSC), "-p", str(REPOSITORY / "tests" / "dashboard" / "tsconfig.json")],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_checked(self) -> None:
        """Every module asks to be checked."""
        for path in STATIC.rglob("*.js"):
            if path.name != "theme-boot.js":
                first = path.read_text(encoding="utf-8").splitlines()[0]
                self.assertEqual(first, "// @ts-check", path)
