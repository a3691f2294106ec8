"""The environment of child processes."""

import os
import subprocess
import sys

from trafficmock_preload.child_environment import with_preload
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.python_preload import DIRECTORY

PROGRAM = """
import os, subprocess, sys
words = [sys.executable, "-c", "import os; print(os.environ['PYTHONPATH'])"]
def run(**more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout.strip()
print(run())
print(run(env={**os.environ, "PYTHONPATH": "other"}))
print(run(env={"PATH": "/bin", "PYTHONPATH": "other"}))
os.environ["PYTHONPATH"] = "first:" + os.environ["PYTHONPATH"]
sys.stdout.flush()
os.execv(sys.executable, words)
"""


class EnvironmentTests(SynchronousTestCase):
    """``PYTHONPATH`` of what a process starts."""

    def test_with_preload(self) -> None:
        """The preload is put first, for a process that is to be attached."""
        base = {"TRAFFICMOCK_PROXY_URL": "http://p:1"}
        for path, wanted in (
            (None, "/p"),
            ("/p", "/p"),
            ("/other:/p", "/p:/other"),
            ("/other", "/p:/other"),
        ):
            given = base if path is None else {**base, "PYTHONPATH": path}
            self.assertEqual(with_preload(given, "/p")["PYTHONPATH"], wanted)
        self.assertEqual(with_preload({"PYTHONPATH": "a"}, "/p"), {"PYTHONPATH": "a"})

    def test_processes(self) -> None:
        """Children and what the process becomes have it, unless they are not to be attached."""
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
            env={
                **os.environ,
                "TRAFFICMOCK_PROXY_URL": "http://127.0.0.1:2",
                "PYTHONPATH": str(DIRECTORY),
            },
        )
        own = str(DIRECTORY)
        self.assertEqual(
            done.stdout.split(), [own, f"{own}:other", "other", f"{own}:first"], done.stderr
        )
