"""The types, as mypy reads them, and the documentation, as Sphinx builds it."""

import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY


class TypeTests(SynchronousTestCase):
    """Beside the other tests, since mypy keeps one core busy for half a minute."""

    def test_types(self) -> None:
        """All Python of the project is right about its types, strictly."""
        argv = [sys.executable, "-m", "mypy"]
        done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class BuildTests(SynchronousTestCase):
    """Beside the other tests, since Sphinx keeps one core busy."""

    def test_no_warning(self) -> None:
        """The documentation builds without a warning."""
        options = ["-W", "--keep-going", "--quiet", "--builder", "html"]
        argv = [sys.executable, "-m", "sphinx", *options, str(REPOSITORY / "docs"), self.mktemp()]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
