"""The lease of a proxy that tests started: a file lock that ends with its holders.

Each process that uses the proxy holds a shared lock on the file. The proxy waits for the exclusive
lock: when it gets that, all users have ended, even by ``SIGKILL``.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

from trafficmock.file_locks import lock

_HELD: list[IO[str]] = []
"""The files stay open until the process ends, because closing one releases its lock."""


def hold(path: Path) -> None:
    """Take a shared lock on ``path`` for the rest of this process: the proxy does not end before.

    This blocks while a proxy that is about to end has the exclusive lock: that one has ended when
    the call returns.
    """
    lease = path.open("a")
    lock(lease, shared=True)
    _HELD.append(lease)


def wait_until_free(lease: IO[str]) -> None:
    """Block until no process holds the lease."""
    lock(lease)
