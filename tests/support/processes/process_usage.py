"""What the kernel says about a process: the CPU it has used and the memory it holds."""

import os
from pathlib import Path

from attrs import frozen

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@frozen
class Memory:
    """Resident memory of a process in bytes: now, and at its highest."""

    resident: int
    peak: int


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of ``pid``, in seconds (proc(5), ``stat``)."""
    text = Path(f"/proc/{pid}/stat").read_text("ascii")
    # The command name, in brackets, may hold blanks: count from behind it.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


def memory(pid: int) -> Memory:
    """Resident memory of ``pid`` (proc(5), ``status``: VmRSS and VmHWM)."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    kib = {
        name: int(value.split()[0])
        for name, _, value in (line.partition(":") for line in lines)
        if name in {"VmRSS", "VmHWM"}
    }
    return Memory(resident=kib["VmRSS"] * 1024, peak=kib["VmHWM"] * 1024)
