"""The process of ``trafficmock run``: receives signals, and ends with the command's status."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from trafficmock.command.supervision.process_group import adopt_orphans, members
from trafficmock.command.supervision.supervisor import BY_TERMINAL, Supervisor, passed_signals
from trafficmock.errors import LocalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses of a command that cannot be started (POSIX, Shell Command Language, 2.8.2)."""

_QUIET = (signal.SIGINT, signal.SIGPIPE)
"""Signals after which shells print no message."""


class CommandStartError(LocalError):
    """The command cannot be started.

    :param status: the exit status that a shell would return.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


def run_command(
    command: Sequence[str], environment: Mapping[str, str], stop_seconds: float
) -> NoReturn:
    """Run a command, and end this process with its exit status or by its signal.

    :param command: the words of the command.
    :param environment: the whole environment of the command.
    :param stop_seconds: how long remaining processes of the command may take to end.
    :raises CommandStartError: if the command cannot be started.
    :raises SystemExit: with the command's exit status.
    """
    passed = passed_signals()
    signal.pthread_sigmask(signal.SIG_BLOCK, (*passed, signal.SIGCHLD))
    adopt_orphans()
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    supervisor = os.fork()
    if not supervisor:
        ours.close()
        _supervise(theirs, command, environment, stop_seconds)
    theirs.close()
    asked = _relay(ours, passed, supervisor)
    _finish(command[0], result_of(ours), asked)


def _supervise(
    channel: socket.socket,
    command: Sequence[str],
    environment: Mapping[str, str],
    stop_seconds: float,
) -> NoReturn:
    status = 1
    try:
        Supervisor(channel, stop_seconds).run(command, environment)
        status = 0
    finally:
        # Without the clean-up of the first process, which this one is a copy of.
        os._exit(status)


def _relay(channel: socket.socket, passed: Sequence[int], supervisor: int) -> set[int]:
    """Forward signals to the supervisor until it ends.

    :returns: the numbers of the forwarded signals.
    """
    asked: set[int] = set()
    while True:
        number, by_terminal = _next_signal((*passed, signal.SIGCHLD))
        if number == signal.SIGCHLD:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(supervisor, os.WNOHANG)[0]:
                    return asked
        else:
            asked.add(number)
            with contextlib.suppress(OSError):  # The supervisor has just ended.
                channel.sendall(bytes([number, by_terminal]))


def _next_signal(numbers: Sequence[int]) -> tuple[int, bool]:
    """Wait for a signal.

    :returns: its number, and whether a terminal sent it.
    """
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(numbers)
        return info.si_signo, info.si_code == BY_TERMINAL
    number = signal.sigwait(numbers)
    return number, number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground()


def _in_foreground() -> bool:
    with contextlib.suppress(OSError):
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    return False


def result_of(channel: socket.socket) -> dict[str, Any]:
    """Read the result of the supervisor, which has ended.

    :returns: ``status`` as of ``waitpid``, or ``errno``; an empty dict if there is no result.
    """
    said = b""
    # The stream is reset if the supervisor ended with an unread signal in it.
    with contextlib.suppress(ConnectionResetError):
        while part := channel.recv(4096):
            said += part
    result: dict[str, Any] = json.loads(said or b"{}")
    return result


def _finish(name: str, result: Mapping[str, Any], asked: set[int]) -> NoReturn:
    """End with the command's exit status, or by its signal.

    :param asked: forwarded signals; that one of them ended the command is not reported.
    :raises CommandStartError: if the command was not started, or the supervisor was killed.
    """
    if "errno" in result:
        missing = result["errno"] in (errno.ENOENT, errno.ENOTDIR)
        why = "command not found" if missing else os.strerror(result["errno"])
        status = NOT_FOUND if missing else NOT_EXECUTABLE
        raise CommandStartError(f"{name}: {why}", status=status)
    if "status" not in result:
        for pid in members(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)
        raise CommandStartError(f"{name}: its supervisor was killed", status=1)
    status = os.waitstatus_to_exitcode(result["status"])
    if status < 0:
        _end_by(-status, name, asked)
    raise SystemExit(status)


def _end_by(number: int, name: str, asked: set[int]) -> NoReturn:
    """End this process by the signal that ended the command."""
    if number not in asked and number not in _QUIET:
        sys.stderr.write(f"trafficmock run: {name} was ended by {_name(number)}\n")
        sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no disposition.
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    # Process 1 of a container is not ended by signals.
    raise SystemExit(128 + number)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
