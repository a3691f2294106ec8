"""Reports the result of a daemon's start to the process at the terminal.

``twistd`` without ``-n`` makes its service, forks twice and then starts the service. The first
process then waits for the daemon by Twisted's status pipe, which does not always show that the
daemon ended during its start. So the first process waits by a pipe of this module before, until
the daemon has started or ended.
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
    """Write one line to the terminal; once logging has begun, ``sys.stderr`` is the log."""
    stream = sys.__stderr__ or sys.stderr
    stream.write(f"trafficmock: {text}\n")
    stream.flush()


class Foreground:
    """The report of a start in the foreground."""

    def succeeded(self) -> None:
        """Do nothing: the log is on the terminal."""

    def failed(self, text: str) -> None:
        complain(text)


@define(eq=False)
class Daemon:
    """The report of a daemon's start, by a pipe to the process at the terminal.

    :param reader: the reading end, for the first process.
    :param writer: the writing end, for the daemon; ``None`` when the start is complete. After
        both forks no other process has it, so the pipe ends with the daemon.
    """

    log = Logger()

    reader: int
    writer: int | None
    _forked: bool = field(default=False, init=False)

    @classmethod
    def to_come(cls) -> Daemon:
        """Make the pipe; this process will wait at the next fork, until its child has started."""
        made = cls(*os.pipe())
        if sys.platform == "win32":
            return made  # twistd has no daemon there.
        os.register_at_fork(after_in_parent=made.wait, after_in_child=made.born)
        return made

    def born(self) -> None:
        """Close the reading end, in the child of the first fork."""
        if not self._forked:
            self._forked = True
            os.close(self.reader)

    def wait(self) -> None:
        """Wait for the daemon, in the first process.

        It returns when the daemon has started; Twisted then ends this process with status 0. If
        the daemon ends before, it writes one line and ends this process with status 1.
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
        """Log the reason and, unless the start was complete, write it to the terminal, too."""
        self.log.critical("trafficmock: {text}", text=text)
        self._tell(text.encode())

    def _tell(self, news: bytes) -> None:
        # The first process may have been killed; the daemon runs without it.
        with suppress(BrokenPipeError):
            if self.writer is not None:
                os.write(self.writer, news)

    def _close(self) -> None:
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None
