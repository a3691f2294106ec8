"""Names a process so that another one on the same machine can tell whether it still runs.

A name has the boot of the kernel, the namespace of process ids, the id, and when the process began:
an id alone may be that of a process in another container, or of a later one. It is known on Linux.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")

_PID = re.compile("[0-9]{1,10}")

_STATE, _STARTED = 0, 19
"""Where a process's state and start are in ``stat``, behind the name of its program (proc(5))."""


def own_mark() -> str:
    """Return the name of this process, which it keeps when it becomes a command; else empty."""
    try:
        pid = os.getpid()
        return f"{_place()} {pid} {_stat(pid)[_STARTED]}"
    except (OSError, IndexError):
        return ""


def may_run(mark: str) -> bool:
    """Return whether a process may run still: also where that cannot be known.

    :param mark: any text; only that of a process of this kernel and namespace tells.
    """
    place, pid, started = (*mark.rsplit(" ", 2), "", "")[:3]
    try:
        if place != _place() or _PID.fullmatch(pid) is None:
            return True
    except OSError:
        return True
    try:
        found = _stat(int(pid))
        return found[_STATE] != "Z" and found[_STARTED] == started
    except (OSError, IndexError):
        return False


def _place() -> str:
    boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {(PROC / 'self/ns/pid').readlink()}"


def _stat(pid: int) -> list[str]:
    # The name of a program is any bytes; Linux cuts a long one within a character, too.
    content = (PROC / str(pid) / "stat").read_bytes()
    return content.rpartition(b")")[2].decode("ascii").split()
