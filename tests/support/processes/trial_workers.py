"""What is made once for all workers of ``trial --jobs``.

Trial hands every worker the next test of the list, so tests that share something dear mostly run
in several processes.
"""

from __future__ import annotations

import fcntl
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TypeVar

Made = TypeVar("Made")


def _common_directory() -> Path | None:
    # Trial makes the directory anew for each run, and moves each worker into one below it.
    is_worker = Path(sys.argv[0]).name == "workertrial.py"
    return Path.cwd().parent if is_worker else None


COMMON_DIRECTORY = _common_directory()
"""The directory that all workers of this run have in common; ``None`` without workers."""


Making = tuple[str, "Callable[[], Made]"]
"""A name, and what makes the thing."""


def made_once(
    name: str,
    make: Callable[[], Made],
    directory: Path | None = None,
    meanwhile: Iterable[Making[Made]] = (),
) -> Made:
    """Make something in one worker; the others wait for it, and get a copy.

    :param name: tells it from other things, in all workers.
    :param make: gives what :mod:`pickle` can copy. When it raises, the next worker tries.
    :param directory: the workers' own without one.
    :param meanwhile: what to make, in this order, while another worker makes this.
    """
    directory = directory or COMMON_DIRECTORY
    if directory is None:
        return make()
    file = _file(directory, name)
    with file.with_suffix(".lock").open("w") as lock:
        others = iter(meanwhile)
        while not _is_ours(lock):
            other = next(others, None)
            if other is None:
                fcntl.flock(lock, fcntl.LOCK_EX)
                break
            _make_if_free(_file(directory, other[0]), other[1])
        return _made(file, make)


def _file(directory: Path, name: str) -> Path:
    return directory / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.pickle"


def _is_ours(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_if_free(file: Path, make: Callable[[], object]) -> None:
    with file.with_suffix(".lock").open("w") as lock:
        if _is_ours(lock):
            _made(file, make)


def _made(file: Path, make: Callable[[], Made]) -> Made:
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.write_bytes(pickle.dumps(make()))
        fresh.replace(file)
    made: Made = pickle.loads(file.read_bytes())  # noqa: S301 - our own worker wrote it
    return made
