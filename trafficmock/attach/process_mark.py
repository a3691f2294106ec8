"""Names a process so that another one on the same machine can tell whether it still runs.

A name has the boot of the kernel, the namespace of process ids, the id, and when the process began:
an id alone may be that of a process in another container, or of a later one. It is known on Linux,
by the files of the kernel, and on macOS, which has no namespaces, by its programs ``sysctl`` and
``ps``.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
SYSCTL: Final = "/usr/sbin/sysctl"
PS: Final = "/bin/ps"

_PID = re.compile("[0-9]{1,10}")

_STATE, _STARTED = 0, 19
"""Where a process's state and start are in ``stat``, behind the name of its program (proc(5))."""

_UNKNOWN = (OSError, subprocess.SubprocessError)
_SECONDS = 5.0
"""The time limit of a program."""


def own_mark() -> str:
    """Return the name of this process, which it keeps when it becomes a command; else empty."""
    try:
        pid = os.getpid()
        return f"{_place()} {pid} {_started(pid)}"
    except _UNKNOWN:
        return ""


def may_run(mark: str) -> bool:
    """Return whether a process may run still: also where that cannot be known.

    :param mark: any text; only that of a process of this kernel and namespace tells.
    """
    place, pid, started = (*mark.rsplit(" ", 2), "", "")[:3]
    try:
        if place != _place() or _PID.fullmatch(pid) is None:
            return True
        return _started(int(pid)) == started
    except _UNKNOWN:
        return True


def _place() -> str:
    """Return the boot of the kernel, and the namespace.

    :raises OSError: neither Linux nor macOS says it; also ``SubprocessError``.
    """
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {(PROC / 'self/ns/pid').readlink()}"
    except FileNotFoundError:
        return _output(SYSCTL, "-n", "kern.bootsessionuuid")


def _started(pid: int) -> str:
    """Return when a process began, in one word; empty if it has ended.

    :raises OSError: it cannot be known; also ``SubprocessError``.
    """
    if (PROC / "self").exists():
        state, started = _stat(pid)
    else:
        state, _, started = _ps(pid).partition(" ")
    return "" if state.startswith("Z") else "-".join(started.split())


def _stat(pid: int) -> tuple[str, str]:
    try:
        # The name of a program is any bytes; Linux cuts a long one within a character, too.
        content = (PROC / str(pid) / "stat").read_bytes()
        parts = content.rpartition(b")")[2].decode("ascii").split()
        return parts[_STATE], parts[_STARTED]
    except (OSError, IndexError):
        return "", ""


def _ps(pid: int) -> str:
    try:
        return _output(PS, "-o", "stat=", "-o", "lstart=", "-p", str(pid))
    except subprocess.CalledProcessError:
        # It fails for a process that does not exist.
        return ""


def _output(*command: str) -> str:
    """Return what a program writes, in the same words for each user."""
    done = subprocess.run(  # noqa: S603 - a program of the system
        command,
        env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_SECONDS,
        check=True,
    )
    return done.stdout.decode("ascii", "replace").strip()
