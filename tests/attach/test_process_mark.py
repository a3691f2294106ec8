"""Whether a process that has named itself may run still."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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
            self.runs_until_killed(child, mark)

    def runs_until_killed(self, child: subprocess.Popen[Any], mark: str) -> None:
        """Check that the mark is that of a process that runs, until it is killed."""
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
        """Where neither is there, there is no mark, and nothing is known of any."""
        mark = own_mark()
        self.patch(process_mark, "PROC", process_mark.PROC / "none")
        for sysctl in ("/none/sysctl", "/bin/false"):
            self.patch(process_mark, "SYSCTL", sysctl)
            self.assertEqual(own_mark(), "")
            self.assertTrue(may_run(f"{mark}0"))


class WithoutFilesTests(MarkTests):
    """The same marks by programs, as on macOS."""

    if not Path(process_mark.PS).exists():
        skip = "needs ps (Debian's package procps)"

    def setUp(self) -> None:
        sysctl = Path(self.mktemp()).absolute()
        sysctl.write_text(
            '#!/bin/sh\n[ "$*" = "-n kern.bootsessionuuid" ] && echo 5E2C0A6B-11AA-4C0F-9D3E\n'
        )
        sysctl.chmod(0o700)
        self.patch(process_mark, "PROC", process_mark.PROC / "none")
        self.patch(process_mark, "SYSCTL", str(sysctl))
        self.patch(os, "environ", {**os.environ, "TZ": "Asia/Tokyo"})

    def test_mark(self) -> None:
        """It has the boot, the id, and the time."""
        place, pid, started = own_mark().split(" ")
        self.assertEqual((place, pid), ("5E2C0A6B-11AA-4C0F-9D3E", str(os.getpid())))
        self.assertRegex(started, r"^[A-Z][a-z]{2}-[A-Z][a-z]{2}-\d+-\d\d:\d\d:\d\d-20\d\d$")

    def test_process(self) -> None:
        """A process that runs, a zombie, and one that has ended."""
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as child:
            started = process_mark._started(child.pid)
            self.runs_until_killed(child, f"5E2C0A6B-11AA-4C0F-9D3E {child.pid} {started}")

    def test_without_ps(self) -> None:
        """Nothing is known of a process if the program is missing."""
        mark = own_mark()
        self.patch(process_mark, "PS", "/none/ps")
        self.assertTrue(may_run(f"{mark}0"))
