"""What is made once for all workers of ``trial --jobs``.

Trial hands every worker the next test of the list, so tests that share something dear mostly run
in several processes.
"""

from __future__ import annotations

import fcntl
import hashlib
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")


def _common_directory() -> Path | None:
    # Trial makes the directory anew for each run, and moves each worker into one below it.
    is_worker = Path(sys.argv[0]).name == "workertrial.py"
    return Path.cwd().parent if is_worker else None


COMMON_DIRECTORY = _common_directory()
"""The directory that all workers of this run have in common; ``None`` without workers."""


def made_once(name: str, make: Callable[[], Made], directory: Path | None = None) -> Made:
    """Make something in one worker; the others wait for it, and get a copy.

    :param name: tells it from other things, in all workers.
    :param make: gives what :mod:`pickle` can copy. When it raises, the next worker tries.
    :param directory: the workers' own without one.
    """
    directory = directory or COMMON_DIRECTORY
    if directory is None:
        return make()
    file = directory / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.pickle"
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            fresh = file.with_suffix(".new")
            fresh.write_bytes(pickle.dumps(make()))
            fresh.replace(file)
        made: Made = pickle.loads(file.read_bytes())  # noqa: S301 - our own worker wrote it
        return made
