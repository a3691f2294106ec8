"""Whether a process that has named itself may run still."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach import process_mark
from trafficmock.attach.process_mark import may_run, own_mark

NAMES_ITSELF = """
import os, sys
from trafficmock.attach.process_mark import own_mark
print(own_mark(), flush=True)
os.execvp("cat", ["cat"])
"""


class MarkTests(SynchronousTestCase):
    """The marks of processes of this machine, and others."""

    def test_process(self) -> None:
        """It has its mark when it has become another program, and until it has ended."""
        command = [sys.executable, "-c", NAMES_ITSELF]
        with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            mark = child.stdout.readline().strip()
            child.stdin.write("exec\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), "exec\n")
            self.assertTrue(may_run(mark))
            child.kill()
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            # It is a zombie until this process has waited for it.
            self.assertFalse(may_run(mark))
            child.wait()
            self.assertFalse(may_run(mark))

    def test_later_process(self) -> None:
        """The id may be that of another process by now."""
        self.assertTrue(may_run(own_mark()))
        self.assertFalse(may_run(f"{own_mark()}0"))

    def test_name_of_program(self) -> None:
        """Linux cuts the name of a program to 15 bytes, also within a character."""
        prctl, set_name = ctypes.CDLL(None).prctl, 15
        before = Path("/proc/self/comm").read_bytes().strip()
        self.addCleanup(prctl, set_name, before)
        prctl(set_name, "магазин)".encode()[:-2])
        mark = own_mark()
        self.assertNotEqual(mark, "")
        self.assertTrue(may_run(mark))

    def test_not_known(self) -> None:
        """A process elsewhere, and what is no mark, may run."""
        place, _, started = own_mark().rsplit(" ", 2)
        long_id = f"{place} {'9' * 5000} {started}"
        for mark in (
            long_id,
            "",
            "nonsense",
            "boot pid:[1] 1 1",
            f"x{own_mark()}",
            own_mark() + " 1 2",
        ):
            self.assertTrue(may_run(mark), mark)

    def test_other_system(self) -> None:
        """Without Linux's files there is no mark, and nothing is known of any."""
        mark = own_mark()
        self.patch(process_mark, "PROC", process_mark.PROC / "none")
        self.assertEqual(own_mark(), "")
        self.assertTrue(may_run(f"{mark}0"))
