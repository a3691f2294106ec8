"""The parent of a command: forwards signals, and ends the processes that remain after it."""

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
"""Signals that are sent to all processes of the command."""

TO_THE_COMMAND = (signal.SIGUSR1, signal.SIGUSR2)
"""Signals for the command itself only: they end a process without a handler."""

BY_TERMINAL = 0x80
"""SI_KERNEL of sigaction(2): the code of signals of the terminal, such as Ctrl-C."""

_TOGETHER = 0.05
"""Seconds within which a signal to a process group reaches all of its processes."""

_LOOK_AGAIN = 0.1
"""Seconds between two checks for remaining processes."""

_LAST_LOOK = 1.0
"""Seconds to wait for killed processes; those that the kernel blocks may take longer."""


def passed_signals() -> list[signal.Signals]:
    """List the signals to forward, without ignored ones (``nohup``), which the command ignores."""
    every = (*TO_ALL, *TO_THE_COMMAND)
    return [each for each in every if signal.getsignal(each) is not signal.SIG_IGN]


@define
class Relayed:
    """A signal that the first process received.

    :param at: when it was received, in monotonic seconds.
    :param due: when to forward it, in monotonic seconds.
    """

    number: int
    by_terminal: bool
    at: float
    due: float


@define(eq=False)
class Supervisor:
    """Starts a command, and ends when no process of it remains.

    A signal that this process received, too, was sent to the whole process group. The command has
    received it already, so it is not forwarded.

    :param channel: the socket to the first process. That sends a signal as two bytes, the number
        and whether a terminal sent it, and gets one JSON object: ``status`` as of ``waitpid``, or
        ``errno``. The channel ends with the first process.
    :param stop_seconds: how long remaining processes of the command may take to end.
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
        """Run a command until it and its remaining processes have ended."""
        adopt_orphans()
        news = _news_of_signals()
        # Drop signals from before the start of the command, which did not receive them.
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

    # Events

    def _note(self, numbers: bytes, now: float) -> None:
        """Handle signals to this process."""
        for number in numbers:
            if number == signal.SIGCHLD:
                self._reap()
            else:
                self._seen[number] = now

    def _reap(self) -> None:
        """Reap ended processes, with the orphans that this process adopted."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._command:
                    self._status = ended[1]

    def _hear(self, said: bytes, now: float) -> None:
        """Handle signals from the first process; end all processes if it has ended."""
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
                # It may have been sent to this process alone (``pkill trafficmock``): if the
                # command still runs after stop_seconds, it is forwarded.
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
        """Send SIGTERM to all processes, and set the time at which they are killed."""
        self._told_to_end = True
        self._kill_at = now + self.stop_seconds
        self._send(signal.SIGTERM)

    def _is_over(self) -> bool:
        """Return whether all processes have ended; end those that remain after the command."""
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
    """Make a pipe into which Python writes the numbers of signals to this process."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (*passed_signals(), signal.SIGCHLD):
        signal.signal(number, _nothing)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (*TO_ALL, *TO_THE_COMMAND, signal.SIGCHLD))
    return reader


def _nothing(number: int, frame: object) -> None:
    """Do nothing: the signal's number is written to the pipe."""
