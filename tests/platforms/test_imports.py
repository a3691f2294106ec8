"""Without the modules that Windows does not have, the product is imported, and its tests run."""

import json
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.platforms.trial_runs import run_tests
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY


class ImportTests(SynchronousTestCase):
    """No module of the product imports a module of POSIX where Windows would."""

    def test_all(self) -> None:
        argv = [sys.executable, "-m", "tests.platforms.without_posix_modules"]
        done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout or "{}")
        self.assertEqual(found.get("failed"), {}, done.stderr)
        self.assertGreater(found["modules"], 300)


class UnitTests(SynchronousTestCase):
    """The tests that start no process pass without the modules of POSIX, and without ``fork``."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"

    def test_all(self) -> None:
        argv = [sys.executable, "-m", "tests.platforms.without_posix_modules", "tests"]
        done = run_tests([*argv, str(Path(self.mktemp()).resolve())])
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        self.assertRegex(done.stdout, r"Ran [23]\d{3} tests")
