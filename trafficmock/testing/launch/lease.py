"""Keeps a proxy alive that tests started, by locks that the kernel releases with their holders.

Whoever uses the proxy holds a shared lock on one file. The proxy waits for the exclusive one:
once it gets that, nobody is left, however they ended, ``SIGKILL`` included.
"""

from __future__ import annotations

import fcntl
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_HELD: list[IO[str]] = []
"""A lock goes when its file is closed, so all are kept to the process's end."""


def hold(path: Path) -> None:
    """Keep a proxy alive as long as this process lives.

    Waits for one that is about to end, and so is not there any more afterwards.
    """
    lease = path.open("a")
    fcntl.flock(lease, fcntl.LOCK_SH)
    _HELD.append(lease)


def wait_until_free(lease: IO[str]) -> None:
    """Block until nobody holds it any more."""
    fcntl.flock(lease, fcntl.LOCK_EX)
