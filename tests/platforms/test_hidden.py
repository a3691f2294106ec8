"""Without ``/proc``, as on macOS and Windows: an empty file system is mounted over it."""

import shlex
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.platforms.trial_runs import run_tests
from tests.support.hypothesis_profiles import DEEP

TESTS = (
    "tests.attach",
    "tests.server.process",
    "tests.testing.launch",
    "tests.command",
    "tests.testing.test_rows.BlockingTests",
    "tests.testing.test_rows.JavaScriptTests",
)
HIDE = "mount -t tmpfs none /proc"


class HiddenTests(SynchronousTestCase):
    """What starts and attaches processes does not read ``/proc``."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"

    def test_proc(self) -> None:
        argv = ["unshare", "--mount", "sh", "-c"]
        if subprocess.run([*argv, HIDE], capture_output=True, check=False).returncode:
            self.skipTest("the file system cannot be mounted here: run it as root")
        tests = [
            sys.executable,
            "-m",
            "twisted.trial",
            "--temp-directory",
            str(Path(self.mktemp()).resolve()),
            *TESTS,
        ]
        done = run_tests([*argv, f"{HIDE} && {shlex.join(tests)}"])
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
