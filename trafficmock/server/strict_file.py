"""Keeps on disk who is strict, so that no request gets out because the service was restarted.

The next process on the same address reads the file before it serves anybody. The file counts if
the process before has ended only just now: as long as anything is strict, it is touched.
"""

from __future__ import annotations

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
"""How often the file is touched."""

RESTART_SECONDS = 60.0
"""How long after the end of a process its successor goes on with what was strict."""

LARGEST_BYTES = 16 * 2**20
"""A larger file was not written by trafficmock."""

_NOTHING = KeptStrictness()


def file_name(address: str) -> str:
    """Name the file for what a service listens on."""
    return f"strict-{re.sub(r'[^A-Za-z0-9.]+', '-', address)}.json"


@define(eq=False)
class StrictFile:
    """The file.

    :param path: where it is; ``None`` keeps nothing.
    :param clock: for touching it.
    """

    log = Logger()

    path: Path | None
    clock: IReactorTime | None = None
    _kept: KeptStrictness | None = field(init=False, default=None)
    _touching: LoopingCall | None = field(init=False, default=None)

    def open(self) -> KeptStrictness:
        """Read who was strict when the process before ended, if that was just now."""
        if self.path is None:
            return _NOTHING
        try:
            # A clock that was set back makes an old file one of the future.
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
        """Replace what the file says; without a file where nothing is strict."""
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
        """Touch the file no longer; it stays."""
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
            # Somebody removed it, or there was no room for it.
            self.keep(self._kept)

    def _warn(self, error: Exception) -> None:
        self.log.warn(
            "Strict mode would not outlast a restart of this service: {path}: {error}",
            path=self.path,
            error=error,
        )


def read_kept(content: bytes) -> KeptStrictness:
    """Read what :meth:`StrictFile.keep` wrote.

    :raises msgspec.MsgspecError: it is something else.
    :raises AllowListError: a pattern cannot be read.
    """
    kept = msgspec.json.decode(content, type=KeptStrictness)
    for patterns in (*kept.runs, *(test.allow for test in kept.tests)):
        read_allow_list(patterns)
    return kept


def _write(path: Path, content: bytes) -> None:
    """Replace a file; whoever reads it finds the old content or the new one, whole."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    # A file of this process alone, with its own mode: never one that a link leads to.
    number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(content)
    new.replace(path)
