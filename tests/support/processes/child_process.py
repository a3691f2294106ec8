"""Child processes that say in one JSON line where they can be reached."""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from attrs import define, field

STOP_SECONDS = 10.0
START_SECONDS = 60.0
POLL_SECONDS = 0.02


class ChildError(Exception):
    """A child did not come up, or did not end as it should; the text holds its output."""


@define
class Child:
    """A running child process whose output is kept for failure texts.

    Its stdin stays open: the Node children end when it closes, so that a
    killed test run leaves nobody behind.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: IO[bytes] = field(repr=False)

    @classmethod
    def start(
        cls,
        name: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        announces: bool = True,
        cwd: Path | None = None,
    ) -> "Child":
        """Start a program.

        :param name: how failure texts call it.
        :param env: added to this process's environment.
        :param announces: whether its stdout is the announcement; else stdout
            is kept like stderr.
        """
        log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if announces else log,
            stderr=log,
            env={**os.environ, **env},
            cwd=cwd,
        )
        return cls(name=name, process=process, log=log)

    def announced(self) -> dict[str, Any]:
        """Wait for the JSON line on stdout.

        :raises ChildError: when it ends, or 20 s pass, without one.
        """
        stdout = self.process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], START_SECONDS)
        line = stdout.readline() if ready else b""
        if not line:
            self.stop()
            raise ChildError(f"{self.name} did not announce itself:\n{self.output()}")
        announced: dict[str, Any] = json.loads(line)
        return announced

    def until(self, ask: Callable[[], bool], what: str) -> None:
        """Ask for something that the child is to bring about, until the answer is true.

        :raises ChildError: when it ends, or 20 s pass, before that.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self._ended_within(POLL_SECONDS) and time.monotonic() < deadline:
            if ask():
                return
        self.stop()
        raise ChildError(f"never came: {what} of {self.name}:\n{self.output()}")

    def _ended_within(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def output(self) -> str:
        """Read what it wrote so far."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int:
        """Ask it to end, insist after 10 s.

        :return: its exit status; negative is the signal that ended it.
        """
        if self.running():
            self.process.send_signal(signal.SIGTERM)
        if not self._ended_within(STOP_SECONDS):
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return self.process.wait(STOP_SECONDS)
