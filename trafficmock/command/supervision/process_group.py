"""Finds the processes of a command in the process group of this process."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PR_SET_CHILD_SUBREAPER = 36
"""See prctl(2)."""


@frozen
class Process:
    """A process of this machine.

    :param ended: whether it is a zombie, which waits for its parent.
    """

    pid: int
    parent: int
    group: int
    ended: bool


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, on Linux (subreaper)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def members(root: int) -> list[int]:
    """List the living descendants of a process that are in its process group.

    Processes with a group of their own are left out: daemons, and those that were started by
    ``setsid`` or with Node's ``detached``.

    :param root: a process id, which is not in the list.
    """
    return descendants(root, os.getpgid(root), _processes())


def descendants(root: int, group: int, processes: Iterable[Process]) -> list[int]:
    """List the living descendants of ``root`` that are in ``group``, parents first."""
    children: dict[int, list[Process]] = defaultdict(list)
    for process in processes:
        children[process.parent].append(process)
    found, to_do = [], [root]
    while to_do:
        below = children.pop(to_do.pop(), [])
        to_do += [process.pid for process in below]
        found += [process.pid for process in below if process.group == group and not process.ended]
    return found


def _processes() -> Iterator[Process]:
    if sys.platform != "linux":
        yield from _from_ps()
        return
    for directory in Path("/proc").iterdir():
        if directory.name.isdecimal():
            try:
                text = (directory / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue  # The process has ended meanwhile.
            yield read_stat(text)


def read_stat(text: str) -> Process:
    """Parse ``/proc/PID/stat`` (proc(5)), in which the name may have any characters."""
    pid, _, rest = text.partition(" (")
    state, parent, group = rest.rpartition(")")[2].split()[:3]
    return Process(int(pid), int(parent), int(group), ended=state in "ZX")


def _from_ps() -> Iterator[Process]:
    columns = ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="]
    listed = subprocess.run(columns, capture_output=True, text=True, check=False)  # noqa: S603 - no input from outside
    for line in listed.stdout.splitlines():
        pid, parent, group, state = line.split()[:4]
        yield Process(int(pid), int(parent), int(group), ended=state.startswith("Z"))
