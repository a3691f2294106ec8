"""The program that ends an application when the tests that started it were killed.

``python -m trafficmock.testing.launch.group_watchdog PID``: it waits for a line on its standard
input, which tests that stop their application themselves write. Without one, they have ended in
another way, such as ``SIGKILL``: the process and those that it started are ended here.
"""

from __future__ import annotations

import os
import sys
import time

from trafficmock.testing.launch import processes

_POLL_SECONDS = 0.05


def main() -> None:
    """Wait for the line, or end the group."""
    pid = int(sys.argv[1])
    if sys.stdin.readline():
        return
    if sys.platform != "win32":
        processes.terminate_group(pid)
        deadline = time.monotonic() + processes.STOP_SECONDS
        while _runs(pid) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
    processes.kill_group(pid)


def _runs(pid: int) -> bool:
    """Return whether a process of a group has not ended, or nobody has read its status."""
    try:
        os.kill(-pid, 0)  # the group; Windows has no ``killpg`` that a type checker could find
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    main()
