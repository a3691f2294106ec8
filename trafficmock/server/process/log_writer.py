"""A log that is read by another process never holds the service up.

A pipe holds 64 KiB on Linux. When its reader reads no more, a write to it waits, and with it would
wait the reactor and every request. So a thread writes what is no regular file. Lines wait for it
in a buffer of :data:`LOG_BUFFER_BYTES`; further lines are dropped and counted.
"""

from __future__ import annotations

import atexit
import os
import select
import stat
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, TextIO

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable

LOG_BUFFER_BYTES = 2**20
"""The most bytes of the log that wait for a reader that does not read, or one longer line."""

LAST_LINES_SECONDS = 1.0
"""How long the end of the process waits for the reader of its last lines."""


def may_wait(stream: TextIO) -> bool:
    """Return whether a write to a stream may wait for a reader; one to a regular file does not."""
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # It has no descriptor, so nobody reads it at another end.
        return False


@define(eq=False)
class LogWriter:
    """Writes the lines of a log by a thread of its own.

    The thread writes to the descriptor and not to the stream: one that waits within a stream holds
    its lock, by which the end of the interpreter would fail. The descriptor stays as blocking as
    it is, since other processes may share it.

    :param stream: where the lines go.
    """

    stream: TextIO
    dropped: Callable[[int], object] = field(default=str, init=False)
    """Called by the thread when the reader reads again, with the number of lines it missed; what
    it writes comes after all lines that waited."""

    _lines: deque[bytes] = field(factory=deque, init=False, repr=False)
    _waiting: int = field(default=0, init=False)
    _missed: int = field(default=0, init=False)
    _until: float | None = field(default=None, init=False)
    _broken: bool = field(default=False, init=False)
    _changed: threading.Condition = field(factory=threading.Condition, init=False, repr=False)
    _thread: threading.Thread | None = field(default=None, init=False, repr=False)

    def write(self, text: str) -> None:
        """Write a line, or count it if the buffer is full; once :meth:`finish` ran, wait for it."""
        line = text.encode(self.stream.encoding or "utf-8", "backslashreplace")
        with self._changed:
            if self._broken:
                return
            full = self._lines and self._waiting + len(line) > LOG_BUFFER_BYTES
            if self._missed or full:
                self._missed += 1
                return
            self._add(line)
            self._await_last_lines()

    def flush(self) -> None:
        """Do nothing: the thread keeps nothing back."""

    def finish(self) -> None:
        """Wait until the lines are written, for :data:`LAST_LINES_SECONDS` in all at most."""
        with self._changed:
            if self._until is None:
                self._until = time.monotonic() + LAST_LINES_SECONDS
            self._await_last_lines()

    def _add(self, line: bytes) -> None:
        if self._thread is None:
            self.stream.flush()
            self._thread = threading.Thread(target=self._run, name="log", daemon=True)
            self._thread.start()
            atexit.register(self.finish)
        self._lines.append(line)
        self._waiting += len(line)
        self._changed.notify_all()

    def _await_last_lines(self) -> None:
        # The thread itself comes here by ``dropped`` and cannot wait for itself.
        if self._until is None or threading.current_thread() is self._thread:
            return
        self._changed.wait_for(
            lambda: self._broken or not (self._waiting or self._missed),
            max(0.0, self._until - time.monotonic()),
        )

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines)
                line = self._lines[0]
            try:
                _write(self.stream.fileno(), line)
            except (OSError, ValueError):  # The reader is gone, or the stream was closed.
                self._end()
                return
            with self._changed:
                self._lines.popleft()
                self._waiting -= len(line)
                missed = 0 if self._lines else self._missed
                self._missed -= missed
            if missed:
                self.dropped(missed)
            with self._changed:
                self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._broken = True
            self._lines.clear()
            self._changed.notify_all()


def _write(descriptor: int, line: bytes) -> None:
    """Write all of a line; it waits for the reader, even if another process made that an error."""
    rest = memoryview(line)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
