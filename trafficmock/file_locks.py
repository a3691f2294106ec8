"""Locks on files, which end with the processes that hold them, even by ``SIGKILL``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any


def lock(file: IO[Any], *, shared: bool = False) -> None:
    """Lock an open file until it is closed; wait while another process has it.

    :param shared: whether other processes may have a shared lock at the same time.
    """
    # Most programs of this package lock nothing, and portalocker imports redis where that is
    # installed: a tenth of the start of the service.
    portalocker = import_module("portalocker")
    portalocker.lock(file, portalocker.LOCK_SH if shared else portalocker.LOCK_EX)


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock file, which is made if it is missing: one process at a time goes on.

    :raises OSError: the file cannot be made.
    """
    with path.open("wb") as file:
        lock(file)
        yield
