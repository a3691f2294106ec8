"""What takes long: the agent on the other Node versions, and under Next.js."""

import shutil
import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.agent.test_agent import AGENT, run
from tests.effort import DEEP

PLACE = AGENT / "test" / "deep"
VERSIONS = ("node22", "node24")


def install(place: Path, needed: str) -> None:
    """Bring the npm packages of a folder.

    :param needed: one of them, by which to know that they are there.
    """
    if not (place / "node_modules" / needed).exists():
        npm = shutil.which("npm") or "npm"
        subprocess.run(
            [npm, "install", "--no-package-lock", "--no-audit", "--no-fund"], cwd=place, check=True
        )


class DeepTests(SynchronousTestCase):
    """Run with ``tox -e deep``."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def check(self, node: str, *files: str) -> None:
        done = run(node, *files)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])

    def test_other_nodes(self) -> None:
        """Every test file passes on Node 22 and 24."""
        install(PLACE, VERSIONS[0])
        files = sorted(path.name for path in (AGENT / "test").glob("*.test.?js"))
        for version in VERSIONS:
            for file in files:
                self.check(str(PLACE / "node_modules" / version / "bin" / "node"), file)

    def test_stream(self) -> None:
        """500 MB go through each way, and neither the application nor the proxy grows."""
        self.check(shutil.which("node") or "node", "deep/stream.test.mjs")

    def test_next(self) -> None:
        """A Next.js application is mocked end to end without a line of code in it."""
        install(PLACE / "next-app", "next")
        self.check(shutil.which("node") or "node", "deep/next.test.mjs")
