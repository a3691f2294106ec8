"""One run of a program: its calls as they happen, then its output and how it ended."""

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from attrs import define, frozen

from tests.support.processes.process_group import kill_group

SILENT_SECONDS = 60.0
"""A program that says nothing for so long is ended: a call of it may take 4 s, and a
framework that compiles first far more on a busy machine."""
EXIT_SECONDS = 20.0
"""Whether it ends later than without the agent is for the comparison."""


@frozen
class Ended:
    """
    How a program ended.

    :param status: its exit status, ``None`` when it did not end by itself.
    :param seconds: from its last call to its end.
    """

    status: int | None
    seconds: float
    stdout: str
    stderr: str


@define
class Program:
    """A program that runs, and waits after each line until it is let on."""

    process: subprocess.Popen[bytes]
    lines: IO[bytes]
    go: IO[bytes]
    output: tuple[IO[bytes], IO[bytes]]

    def follow(self, received: Callable[[dict[str, Any]], None]) -> Ended:
        """Hand over each message, until the program has ended."""
        while message := self._next():
            received(message)
            self.go.write(b"\n")
            self.go.flush()
            if "done" in message:
                break
        started = time.monotonic()
        try:
            status: int | None = self.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            kill_group(self.process)
            status = None
        stdout, stderr = (_read(each) for each in self.output)
        return Ended(status, time.monotonic() - started, stdout, stderr)

    def _next(self) -> dict[str, Any] | None:
        ready, _, _ = select.select([self.lines], [], [], SILENT_SECONDS)
        line = self.lines.readline() if ready else b""
        message: dict[str, Any] | None = json.loads(line) if line else None
        return message


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


@contextmanager
def program(command: Sequence[str], env: Mapping[str, str], cwd: Path) -> Iterator[Program]:
    """Start a program; it is gone at the end of the block, with all that it started."""
    reader, writer = os.pipe()
    wait, go = os.pipe()
    with (
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
        open(reader, "rb", buffering=0) as lines,  # noqa: PTH123 - a descriptor
        open(go, "wb", buffering=0) as onwards,  # noqa: PTH123
    ):
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(writer, wait),
            env={**env, "BENCH_FDS": f"{writer},{wait}"},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(writer)
        os.close(wait)
        try:
            yield Program(process, lines, onwards, (stdout, stderr))
        finally:
            kill_group(process)
