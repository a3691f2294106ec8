"""Saves the state of strict mode, so that it stays in force when the service is restarted.

The next process on the same address reads the file before it serves requests. The file counts if
the process before ended just now, which its modification time shows: while anything is strict,
the file is touched regularly.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from typing import TYPE_CHECKING

import msgspec
from attrs import define, field
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from trafficmock.core.ownership.kept_strictness import KeptStrictness
from trafficmock.matching.allow_list import AllowListError, read_allow_list

if TYPE_CHECKING:
    from pathlib import Path

    from twisted.internet.interfaces import IReactorTime

TOUCH_SECONDS = 10.0
"""The time between two touches of the file."""

RESTART_SECONDS = 60.0
"""The greatest age of a file that the next process uses."""

LARGEST_BYTES = 16 * 2**20
"""The largest file that is read; trafficmock writes smaller ones."""

_NOTHING = KeptStrictness()


def file_name(address: str) -> str:
    """Return the name of the file for the address that a service listens on, one for each."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", address)
    if name != address:
        name += f"-{hashlib.sha256(address.encode()).hexdigest()[:8]}"
    return f"strict-{name}.json"


@define(eq=False)
class StrictFile:
    """The file with the state of strict mode.

    :param path: its path; ``None`` for no file.
    :param clock: schedules the touches; ``None`` for none.
    """

    log = Logger()

    path: Path | None
    clock: IReactorTime | None = None
    _kept: KeptStrictness | None = field(init=False, default=None)
    _touching: LoopingCall | None = field(init=False, default=None)

    def open(self) -> KeptStrictness:
        """Return the state of the process before, if it ended just now; else an empty one."""
        if self.path is None:
            return _NOTHING
        try:
            # abs: after the clock was set back, an old file has a time in the future.
            age = abs(time.time() - self.path.stat().st_mtime)
            if age > RESTART_SECONDS or self.path.stat().st_size > LARGEST_BYTES:
                return _NOTHING
            return read_kept(self.path.read_bytes())
        except FileNotFoundError:
            return _NOTHING
        except (OSError, msgspec.MsgspecError, AllowListError) as error:
            self._warn(error)
            return _NOTHING

    def keep(self, kept: KeptStrictness) -> None:
        """Write the state into the file; remove the file if nothing is strict."""
        if self.path is None:
            return
        self._kept = kept
        try:
            if kept == _NOTHING:
                self.close()
                self.path.unlink(missing_ok=True)
            else:
                self._touch_regularly()
                _write(self.path, msgspec.json.encode(kept))
        except OSError as error:
            self._warn(error)

    def close(self) -> None:
        """Stop touching the file, which stays for the next process."""
        if self._touching is not None:
            self._touching.stop()
            self._touching = None

    def _touch_regularly(self) -> None:
        if self._touching is None and self.clock is not None:
            self._touching = LoopingCall(self._touch)
            self._touching.clock = self.clock
            self._touching.start(TOUCH_SECONDS, now=False)

    def _touch(self) -> None:
        if self.path is None or self._kept is None:
            return
        try:
            os.utime(self.path)
        except OSError:
            # The file was removed, or could not be written before.
            self.keep(self._kept)

    def _warn(self, error: Exception) -> None:
        self.log.warn(
            "Strict mode would not outlast a restart of this service: {path}: {error}",
            path=self.path,
            error=error,
        )


def read_kept(content: bytes) -> KeptStrictness:
    """Read the content of the file.

    :raises msgspec.MsgspecError: if it is not what :meth:`StrictFile.keep` writes.
    :raises AllowListError: if a pattern is invalid.
    """
    kept = msgspec.json.decode(content, type=KeptStrictness)
    for patterns in (*kept.runs, *(test.allow for test in kept.tests)):
        read_allow_list(patterns)
    return kept


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically, with mode 0600."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    # O_EXCL makes a new file, and never follows a symbolic link.
    number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(content)
    new.replace(path)
