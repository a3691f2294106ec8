"""The lease of a proxy that tests started: a file lock that ends with its holders.

Each process that uses the proxy holds a shared lock on the file. The proxy waits for the exclusive
lock: when it gets that, all users have ended, even by ``SIGKILL``.
"""

from __future__ import annotations

from importlib import import_module
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_HELD: list[IO[str]] = []
"""The files stay open until the process ends, because closing one releases its lock."""


def hold(path: Path) -> None:
    """Take a shared lock on ``path`` for the rest of this process: the proxy does not end before.

    This blocks while a proxy that is about to end has the exclusive lock: that one has ended when
    the call returns.
    """
    lease = path.open("a")
    _lock(lease, "LOCK_SH")
    _HELD.append(lease)


def wait_until_free(lease: IO[str]) -> None:
    """Block until no process holds the lease."""
    _lock(lease, "LOCK_EX")


def _lock(file: IO[str], kind: str) -> None:
    # Imported here: most programs of this package lock nothing, and the import of portalocker
    # takes 0.3 s where redis is installed, which it imports.
    portalocker = import_module("portalocker")
    portalocker.lock(file, getattr(portalocker, kind))
