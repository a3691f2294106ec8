"""The parent of a command: passes signals on, and ends what the command leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.command.supervision.process_group import adopt_orphans, members

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence

TO_ALL = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""Signals that every process of the command gets."""

TO_THE_COMMAND = (signal.SIGUSR1, signal.SIGUSR2)
"""Signals that only the command itself gets: they end a process that does not expect them."""

BY_TERMINAL = 0x80
"""SI_KERNEL of sigaction(2), what the terminal's Ctrl-C has; ``kill`` has 0."""

_TOGETHER = 0.05
"""Seconds within which a signal reaches all processes that it is sent to at once."""

_LOOK_AGAIN = 0.1
"""Seconds between two looks at what the command left behind."""

_LAST_LOOK = 1.0
"""Seconds in which killed processes disappear, unless the kernel holds them."""


def passed_signals() -> list[signal.Signals]:
    """List the signals to pass on; what is ignored (``nohup``) stays ignored in the command."""
    every = (*TO_ALL, *TO_THE_COMMAND)
    return [each for each in every if signal.getsignal(each) is not signal.SIG_IGN]


@define
class Relayed:
    """A signal that the first process got.

    :param due: when to pass it on.
    """

    number: int
    by_terminal: bool
    at: float
    due: float


@define(eq=False)
class Supervisor:
    """Starts a command and stays until nothing of it is left.

    A signal that this process gets too was sent to the whole process group, by a terminal or by
    whoever ends groups: the command has it already, and is not sent it twice.

    :param channel: to the first process: it sends signals as two bytes, the number and whether
        a terminal sent it, and gets one JSON object, ``status`` as of ``waitpid`` or ``errno``.
        Its end is the first process's end.
    :param stop_seconds: how long what the command leaves behind may take to end.
    """

    channel: socket.socket
    stop_seconds: float
    _command: int = 0
    _status: int | None = None
    _seen: dict[int, float] = field(factory=dict)
    _relayed: list[Relayed] = field(factory=list)
    _told_to_end: bool = False
    _kill_at: float | None = None
    _abandoned: bool = False

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Run a command until its end, and the end of what it leaves behind."""
        adopt_orphans()
        news = _news_of_signals()
        # What came to all processes before there was a command did not come to it.
        with contextlib.suppress(BlockingIOError):
            os.read(news, 4096)
        try:
            process = subprocess.Popen(command, env=environment, close_fds=False)  # noqa: S603 - running the user's command is the purpose
        except OSError as error:
            self._report({"errno": error.errno or 0})
            return
        self._command = process.pid
        while not self._is_over():
            ready, _, _ = select.select(self._sources(news), [], [], self._seconds_left())
            now = time.monotonic()
            if news in ready:
                self._note(os.read(news, 4096), now)
            if self.channel in ready:
                self._hear(self.channel.recv(4096), now)
            self._pass_on(now)
        process.returncode = os.waitstatus_to_exitcode(self._status or 0)
        self._report({"status": self._status or 0})

    def _sources(self, news: int) -> list[int | socket.socket]:
        return [news] if self._abandoned else [news, self.channel]

    def _seconds_left(self) -> float | None:
        if self._status is not None or self._kill_at is not None:
            return _LOOK_AGAIN
        due = min((each.due for each in self._relayed), default=None)
        return None if due is None else max(0.0, due - time.monotonic())

    # What happens

    def _note(self, numbers: bytes, now: float) -> None:
        """Take note of signals to this process."""
        for number in numbers:
            if number == signal.SIGCHLD:
                self._reap()
            else:
                self._seen[number] = now

    def _reap(self) -> None:
        """Note processes that ended, also orphans that this process adopted."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._command:
                    self._status = ended[1]

    def _hear(self, said: bytes, now: float) -> None:
        """Take signals of the first process; its end is a reason to end everything."""
        if not said:
            self._abandoned = True
            self._end(now)
        for number, by_terminal in zip(said[::2], said[1::2], strict=False):
            self._relayed.append(Relayed(number, bool(by_terminal), now, now + _TOGETHER))

    def _pass_on(self, now: float) -> None:
        due = [each for each in self._relayed if each.due <= now]
        for each in due:
            self._relayed.remove(each)
            if each.number in TO_ALL:
                self._told_to_end = True
            if self._seen.get(each.number, 0.0) < each.at - _TOGETHER:
                self._send(each.number)
            elif not each.by_terminal:
                # Perhaps it was for this process alone (``pkill trafficmock``): look at it again.
                del self._seen[each.number]
                each.due = now + self.stop_seconds
                self._relayed.append(each)

    def _send(self, number: int) -> None:
        targets = members(os.getpid()) if number in TO_ALL else [self._command]
        if number not in TO_ALL and self._status is not None:
            return
        for pid in targets:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _end(self, now: float) -> None:
        """Ask all to end, and settle when they are killed."""
        self._told_to_end = True
        self._kill_at = now + self.stop_seconds
        self._send(signal.SIGTERM)

    def _is_over(self) -> bool:
        """Look whether all have ended, and end what the command left behind."""
        now = time.monotonic()
        if self._kill_at is not None and now >= self._kill_at:
            self._kill()
            return True
        if self._status is None:
            return False
        left = members(os.getpid())
        if left and self._kill_at is None:
            if self._told_to_end:
                self._kill_at = now + self.stop_seconds
            else:
                self._end(now)
        return not left

    def _kill(self) -> None:
        self._send_kill()
        until = time.monotonic() + _LAST_LOOK
        while members(os.getpid()) and time.monotonic() < until:
            time.sleep(_TOGETHER)
            self._send_kill()
        self._reap()

    def _send_kill(self) -> None:
        for pid in members(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _report(self, news: dict[str, int]) -> None:
        with contextlib.suppress(OSError):  # The first process was killed.
            self.channel.sendall(json.dumps(news).encode())


def _news_of_signals() -> int:
    """Make a pipe from which the numbers of signals to this process can be read."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (*passed_signals(), signal.SIGCHLD):
        signal.signal(number, _nothing)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (*TO_ALL, *TO_THE_COMMAND, signal.SIGCHLD))
    return reader


def _nothing(number: int, frame: object) -> None:
    """Do nothing: the pipe tells of the signal."""
