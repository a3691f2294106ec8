"""What ``python -m benchmarks streams`` prints."""

import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY

SECONDS = 3600


class StreamTests(SynchronousTestCase):
    """2 GB of a mock to a slow reader, and 1,000 open streams of 100 tests."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def test_memory(self) -> None:
        """Test, proxy and application need no more memory for 2 GB than for a tenth of it."""
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks", "streams"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("| 1,000        | 100 ", done.stdout)
