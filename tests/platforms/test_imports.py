"""Without the modules that Windows does not have, every module of the product is imported."""

import json
import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY


class ImportTests(SynchronousTestCase):
    """No module of the product imports a module of POSIX where Windows would."""

    def test_all(self) -> None:
        argv = [sys.executable, "-m", "tests.platforms.without_posix_modules"]
        done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout or "{}")
        self.assertEqual(found.get("failed"), {}, done.stderr)
        self.assertGreater(found["modules"], 300)
