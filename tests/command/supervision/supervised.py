"""Commands that run supervised, in a process that the test may end as it likes."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY, SECONDS
from tests.support.waiting import wait_until

PROGRAM = """
import os, sys
from trafficmock.errors import LocalError
from trafficmock.command.supervision.foreground import run_command
try:
    run_command(sys.argv[2:], dict(os.environ), float(sys.argv[1]))
except LocalError as error:
    sys.stderr.write(f"{error}\\n")
    raise SystemExit(error.status)
"""
STOP_SECONDS = 10.0


class SupervisionCase(SynchronousTestCase):
    """Starts commands, and sees to it that nothing of them survives the test."""

    def setUp(self) -> None:
        self.file = Path(self.mktemp()).absolute()
        self.file.touch()
        self.addCleanup(self.kill_recorded)

    def argv(self, *command: str, stop_seconds: float = STOP_SECONDS) -> list[str]:
        return [sys.executable, "-c", PROGRAM, str(stop_seconds), *command]

    def recording(self, ends_on: str, *names: str) -> list[str]:
        """Write the command of the application that records its signals."""
        return [
            *(sys.executable, "-m", "tests.command.supervision.recording"),
            *(str(self.file), ends_on, *names),
        ]

    def start(
        self, *command: str, stop_seconds: float = STOP_SECONDS, **keywords: Any
    ) -> subprocess.Popen[str]:
        """Start a command, not in the group of the test run."""
        process = subprocess.Popen(
            self.argv(*command, stop_seconds=stop_seconds),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            start_new_session=True,
            **keywords,
        )
        self.addCleanup(self.reap, process)
        return process

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        """Wait for the end; give the exit status and what stands on standard error."""
        _, message = process.communicate(timeout=SECONDS)
        return process.returncode, message

    def on_terminal(self, *command: str) -> tuple[int, int]:
        """Start a command in the foreground of a terminal; give its pid and the terminal."""
        argv = self.argv(*command)
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(REPOSITORY)
            os.execv(argv[0], argv)  # noqa: S606 - the point
        self.addCleanup(self.hang_up, terminal)
        return pid, terminal

    def events(self) -> list[str]:
        """List what was recorded but the pids, in order."""
        lines = self.file.read_text().splitlines()
        return [" ".join(line.split()[:2]) for line in lines]

    def pids(self) -> list[int]:
        lines = [line.split() for line in self.file.read_text().splitlines()]
        return [int(line[2]) for line in lines if line[1] == "ready"]

    def ready(self, *names: str) -> None:
        """Wait until these applications record."""
        wanted = {f"{name} ready" for name in names}
        wait_until(lambda: wanted <= set(self.events()), f"{wanted}")

    def assert_gone(self) -> None:
        """Check that no application that recorded is left."""
        wait_until(lambda: not any(map(lives, self.pids())), "the end of all")

    def kill_recorded(self) -> None:
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @staticmethod
    def hang_up(terminal: int) -> None:
        with contextlib.suppress(OSError):
            os.close(terminal)

    @staticmethod
    def reap(process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            process.kill()
        with process:
            process.wait(SECONDS)


def lives(pid: int) -> bool:
    """Tell whether a process lives, and is not one whose end nobody has noticed."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"
