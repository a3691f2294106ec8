"""Commands that end with all that they started."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any


def run_group(
    command: Sequence[str],
    seconds: float,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process group of its own, of which nothing is left when time is up.

    :raises subprocess.TimeoutExpired: it took longer; what it started is killed, too.
    """
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        pass_fds=pass_fds,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except BaseException:
            kill_group(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def kill_group(process: subprocess.Popen[Any]) -> None:
    """
    Kill all that is left of a process group, whether or not its leader has ended.

    :param process: the leader, started with ``start_new_session=True``.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
