"""Ends processes that tests started.

POSIX has signals and process groups. On Windows ``CTRL_BREAK_EVENT`` asks a process group to end
(:func:`os.kill` of the Python library), and ``taskkill`` ends a process with its children.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

STOP_SECONDS = 10.0
"""How long a process that was asked to end has for it."""


def own_group() -> dict[str, Any]:
    """Return the arguments of :class:`subprocess.Popen` for a process group of its own.

    Ctrl-C in the terminal of the tests does not reach it.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def terminate(pid: int) -> None:
    """Ask a process to end.

    :raises ProcessLookupError: it has ended, and its status was read.
    """
    if sys.platform == "win32":
        os.kill(pid, signal.CTRL_BREAK_EVENT)
    else:
        os.kill(pid, signal.SIGTERM)


def kill(pid: int) -> None:
    """End a process at once.

    :raises ProcessLookupError: it has ended, and its status was read.
    """
    if sys.platform == "win32":
        # Any number but those of Ctrl-C and Ctrl-Break ends the process at once.
        os.kill(pid, signal.SIGTERM)
    else:
        os.kill(pid, signal.SIGKILL)


def terminate_group(pid: int) -> None:
    """Ask a process and those that it started to end, unless they have a group of their own.

    :param pid: the process, which was started with :func:`own_group`.
    """
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            terminate(pid)
        else:
            os.killpg(pid, signal.SIGTERM)


def kill_group(pid: int) -> None:
    """End a process and those that it started at once, unless they have a group of their own.

    :param pid: the process, which was started with :func:`own_group`.
    """
    if sys.platform == "win32":
        argv = ["taskkill", "/PID", str(pid), "/T", "/F"]
        subprocess.run(argv, capture_output=True, check=False)  # noqa: S603 - a process of the tests
        return
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a child and the processes that it started: ask them to, then kill them.

    They are killed when the child has ended, after :data:`STOP_SECONDS` at the latest.

    :param process: the child, which was started with :func:`own_group`.
    """
    terminate_group(process.pid)
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    kill_group(process.pid)
    process.wait()


@contextmanager
def ended_with_this_process(pid: int) -> Iterator[None]:
    """Let a process group be ended if this process is killed before the block ends.

    :param pid: its first process, which was started with :func:`own_group`.
    """
    watchdog = subprocess.Popen(  # noqa: S603 - a program of ours
        [sys.executable, "-m", "trafficmock.testing.launch.group_watchdog", str(pid)],
        stdin=subprocess.PIPE,
        **own_group(),
    )
    try:
        yield
    finally:
        with suppress(BrokenPipeError):
            watchdog.communicate(b"stopped\n")


def reaped(pid: int) -> bool:
    """Return whether a child has ended, and read its status.

    :raises ChildProcessError: it is no child of this process, or Windows cannot tell.
    """
    if sys.platform == "win32":
        raise ChildProcessError
    return os.waitpid(pid, os.WNOHANG) != (0, 0)
