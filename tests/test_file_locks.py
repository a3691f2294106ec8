"""Locks on files."""

import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.file_locks import exclusive_lock, lock

_TAKE = """
import sys
import portalocker
from trafficmock.file_locks import lock
file = open(sys.argv[1], "a")
try:
    portalocker.lock(file, portalocker.LOCK_SH | portalocker.LOCK_NB)
    portalocker.unlock(file)
    print("is free", flush=True)
except portalocker.LockException:
    print("waits", flush=True)
lock(file, shared=sys.argv[2] == "shared")
print("has it", flush=True)
sys.stdin.read()
"""

_STARTED = """
import sys
from trafficmock.server.options import ProxyOptions
from trafficmock.tap import makeService
options = ProxyOptions()
options.parseOptions(["--port", "0"])
makeService(options)
print("portalocker" in sys.modules)
"""


class FileLockTests(SynchronousTestCase):
    """Who waits for whom."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())

    def take(self, kind: str, found: str = "is free") -> subprocess.Popen[str]:
        """Start a process that takes the lock, and holds it until it is killed.

        :param found: whether a shared lock has to wait when it starts.
        """
        argv = [sys.executable, "-c", _TAKE, str(self.path), kind]
        process = subprocess.Popen(argv, stdin=-1, stdout=-1, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), f"{found}\n")
        return process

    def has_it(self, process: subprocess.Popen[str]) -> None:
        """Wait until a process has the lock."""
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), "has it\n")

    def test_kinds(self) -> None:
        """A shared lock lets other shared ones in; an exclusive one waits for all, even killed."""
        first, second = self.take("shared"), self.take("shared")
        self.has_it(first)
        self.has_it(second)
        with self.path.open("a") as file:
            lock(file, shared=True)
        first.kill()
        second.kill()
        with exclusive_lock(self.path):
            waiting = self.take("shared", "waits")
        self.has_it(waiting)

    def test_missing_directory(self) -> None:
        """A file that cannot be made is an error."""
        with self.assertRaises(FileNotFoundError), exclusive_lock(self.path / "lock"):
            self.fail("the lock is held")

    def test_import(self) -> None:
        """A service that locks nothing starts without portalocker, which may import redis."""
        argv = [sys.executable, "-c", _STARTED]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "False\n")
