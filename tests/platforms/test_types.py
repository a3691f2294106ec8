"""The types of the product, as mypy reads them for Windows and macOS.

The stubs of the standard library leave out what a platform does not have, so a call of
``os.geteuid``, ``os.fork`` or ``signal.SIGKILL`` that Windows would reach is an error.
"""

import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY


class PlatformTests(SynchronousTestCase):
    """The product calls what is there on every platform; ``tox -e mypy`` asks the same."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"

    def check(self, platform: str) -> None:
        argv = [sys.executable, "-m", "mypy", "--platform", platform, "--cache-dir"]
        argv += [str(Path(self.mktemp()).resolve()), "trafficmock"]
        done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_windows(self) -> None:
        self.check("win32")

    def test_macos(self) -> None:
        self.check("darwin")
