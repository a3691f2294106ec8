"""Tells the process at the terminal how the start of its daemon ended.

``twistd`` without ``-n`` makes its service, forks twice and then starts the service. The first
process waits at a status pipe of Twisted's, which an end of the daemon before its start is
complete does not always reach. It waits here first, until the daemon has started or is gone.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from attrs import define, field
from twisted.logger import Logger

_STARTED = b"+"
_ENDED = "the daemon ended before it had started; --log-level debug makes its log say why"


def complain(text: str) -> None:
    """Write to the terminal: when logging has begun, ``sys.stderr`` is the log."""
    stream = sys.__stderr__ or sys.stderr
    stream.write(f"trafficmock: {text}\n")
    stream.flush()


class Foreground:
    """A start at a terminal."""

    def succeeded(self) -> None:
        """Do nothing: the log is on the terminal."""

    def failed(self, text: str) -> None:
        complain(text)


@define(eq=False)
class Daemon:
    """A start whose terminal belongs to another process.

    :param reader: the pipe's end that the first process reads.
    :param writer: the other end, which nobody but the daemon has when both forks are done;
        ``None`` when the start is complete.
    """

    log = Logger()

    reader: int
    writer: int | None
    _forked: bool = field(default=False, init=False)

    @classmethod
    def to_come(cls) -> Daemon:
        """Make the pipe, and let the process that forks next wait for the child's news."""
        made = cls(*os.pipe())
        os.register_at_fork(after_in_parent=made.wait, after_in_child=made.born)
        return made

    def born(self) -> None:
        """Keep only the writing end, in the child of a fork."""
        if not self._forked:
            self._forked = True
            os.close(self.reader)

    def wait(self) -> None:
        """Wait for the daemon in the process that made it.

        It returns when the daemon has started, for Twisted to end this process with status 0.
        Otherwise it writes one line and ends this process with status 1, when the daemon has
        ended and its files are as it leaves them.
        """
        if self._forked:
            return
        self._forked = True
        self._close()
        try:
            with os.fdopen(self.reader, "rb") as pipe:
                news = pipe.read()
        except KeyboardInterrupt:
            os._exit(130)
        if news != _STARTED:
            complain(news.decode("utf-8", "replace") or _ENDED)
            os._exit(1)

    def succeeded(self) -> None:
        self._tell(_STARTED)
        self._close()

    def failed(self, text: str) -> None:
        """Say why in the log and, before the start is complete, on the terminal too."""
        self.log.critical("trafficmock: {text}", text=text)
        self._tell(text.encode())

    def _tell(self, news: bytes) -> None:
        # The first process may have been ended; a daemon that listens does not need it.
        with suppress(BrokenPipeError):
            if self.writer is not None:
                os.write(self.writer, news)

    def _close(self) -> None:
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None
