"""The command ``trafficmock``: finds the command that is meant, and ends with its status."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from attrs import frozen

from trafficmock import __version__
from trafficmock.errors import LocalError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Commands are named here and imported when they are called: most of them do without Twisted,
# and what is typed at a prompt is to answer at once.


def serve(words: Sequence[str]) -> None:
    """Run the proxy as ``twistd -n trafficmock`` does."""
    if {"--help", "-h"} & set(words):
        from trafficmock.options import Options  # noqa: PLC0415 - see above

        options = Options()
        options.synopsis = "Usage: trafficmock serve [options]"
        sys.stdout.write(f"{options}\n")
        return
    from twisted.scripts import twistd  # noqa: PLC0415 - see above

    sys.argv = ["trafficmock", "--nodaemon", "trafficmock", *words]
    twistd.run()


def run(words: Sequence[str]) -> None:
    """Start an application attached."""
    from trafficmock import attach  # noqa: PLC0415 - see above

    _checked("run", attach.run, words)


def env(words: Sequence[str]) -> None:
    """Print what ``run`` sets."""
    from trafficmock import attach  # noqa: PLC0415 - see above

    sys.stdout.write(_checked("env", attach.env, words) or "")


@frozen
class Command:
    """A command.

    :param summary: what it does, in a few words.
    :param act: runs it; returns the exit status, or ``None`` for 0. A string names the module
        under ``trafficmock.command`` that has ``main(words)`` and ``parser()``.
    :param options: where the options are that a shell completes, ``module:class``, for commands
        with Twisted's ``usage.Options``.
    """

    summary: str
    act: Callable[[Sequence[str]], int | None] | str
    options: str | None = None


COMMANDS = {
    "serve": Command("run the proxy in the foreground", serve, "trafficmock.options:Options"),
    "run": Command("start an application attached", run, "trafficmock.attach:RunOptions"),
    "env": Command("print what `run` sets", env, "trafficmock.attach:EnvOptions"),
    "history": Command("list recorded HTTP requests, or follow them", "history"),
    "ws": Command("list recorded WebSockets, or follow them", "ws"),
    "show": Command("show one request or WebSocket in full", "show"),
    "har": Command("write recorded requests as a HAR file", "har"),
    "status": Command("say whether the proxy answers and who is connected", "status"),
    "completion": Command("print completions for bash, zsh or fish", "completion"),
}
"""Every command; a new one is one line here."""


def usage_text() -> str:
    """Write the help of the program: every command on one line."""
    lines = "".join(f"  {name:<11} {command.summary}\n" for name, command in COMMANDS.items())
    return (
        f"Usage: trafficmock COMMAND [options]\n\nCommands:\n{lines}\n"
        "`trafficmock COMMAND --help` lists the options of a command, with examples.\n\n"
        "Options:\n  --version   print the version\n  --help      print this text\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    :param arguments: the words after the program's name; by default the process's.
    :raises SystemExit: with the exit status, unless that is 0.
    """
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    words = list(sys.argv[1:] if arguments is None else arguments)
    name, rest = (words[0], words[1:]) if words else ("", [])
    try:
        status = _run(name, rest)
        sys.stdout.flush()
    except LocalError as error:
        sys.stderr.write(f"trafficmock {name}: {error}\n")
        status = getattr(error, "status", 1)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        # Python flushes once more at its end, into what is then somewhere else.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    if status:
        raise SystemExit(status)


def _run(name: str, words: Sequence[str]) -> int:
    """Run a command.

    :returns: the exit status.
    """
    if name in COMMANDS:
        act = COMMANDS[name].act
        chosen = import_module(f"trafficmock.command.{act}").main if isinstance(act, str) else act
        return chosen(words) or 0
    if name in {"--help", "-h", "help"}:
        sys.stdout.write(usage_text())
        return 0
    if name == "--version":
        sys.stdout.write(f"trafficmock {__version__}\n")
        return 0
    what = f"unknown command {name!r}" if name else "a command is missing"
    sys.stderr.write(f"trafficmock: {what}\n\n{usage_text()}")
    return 2


def _checked(name: str, act: Callable[[Sequence[str]], Any], words: Sequence[str]) -> Any:
    """Run a command with Twisted's options; what was said wrongly ends with status 2."""
    from twisted.python import usage  # noqa: PLC0415 - see above

    try:
        return act(words)
    except usage.UsageError as error:
        sys.stderr.write(f"trafficmock {name}: {error}\n")
        raise SystemExit(2) from error


def _complete() -> None:
    """Answer a shell that completes a line."""
    completion = import_module("trafficmock.command.completion")
    commands = {name: each.options or str(each.act) for name, each in COMMANDS.items()}
    completion.complete(commands, os.environ.get("COMP_LINE", ""))
