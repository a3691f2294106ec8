"""The console script ``trafficmock``: runs a command, and exits with the status of that command."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from attrs import frozen

from trafficmock import __version__
from trafficmock.errors import LocalError

REACTOR = "TRAFFICMOCK_REACTOR"
"""The variable that names the Twisted reactor of ``serve`` and ``dashboard``."""

_OF_OUTPUT = frozenset({errno.ENOSPC, errno.EFBIG, errno.EIO})
"""What a write to the output fails with: the disk is full, the file too large, or it broke."""

# Modules of commands are imported when the command runs: most commands do not need Twisted,
# and without its import they start faster.


@frozen(kw_only=True)
class Command:
    """A command of ``trafficmock``: a module of :mod:`trafficmock.command`, or a twistd plugin.

    :param summary: one line for the help text.
    :param module: a module under ``trafficmock.command`` with ``main(words)``, which returns
        the exit status, and ``parser()``.
    :param plugin: the name of a twistd plugin, for a command without ``module``.
    :param options: the plugin's :class:`twisted.python.usage.Options` class, as ``module:class``.
    """

    summary: str
    module: str | None = None
    plugin: str | None = None
    options: str | None = None

    def run(self, name: str, words: Sequence[str]) -> int:
        """Run the command.

        :param name: the name of the command, for its help.
        :param words: the arguments after the name.
        :returns: the exit status.
        """
        if self.module is not None:
            status: int = import_module(f"trafficmock.command.{self.module}").main(words)
            return status
        if {"--help", "-h"} & set(words):
            sys.stdout.write(f"{self.usage(name)}\n")
            return 0
        from twisted.scripts import twistd  # noqa: PLC0415 - see above

        sys.argv = ["trafficmock", *_reactor(), "--nodaemon", str(self.plugin), *words]
        twistd.run()
        return 0

    def usage(self, name: str) -> Any:
        """Make the Twisted options of a plugin; ``str`` of them is the help of the command."""
        module, _, options_class = str(self.options).partition(":")
        options = getattr(import_module(module), options_class)()
        if not options.synopsis.startswith("Usage:"):
            options.synopsis = f"Usage: trafficmock {name} {options.synopsis}"
        return options


COMMANDS = {
    "serve": Command(
        summary="run the proxy in the foreground",
        plugin="trafficmock",
        options="trafficmock.server.options:ProxyOptions",
    ),
    "dashboard": Command(
        summary="show the recorded traffic in a browser",
        plugin="trafficmock-dashboard",
        options="trafficmock.dashboard.dashboard_options:DashboardOptions",
    ),
    "run": Command(summary="start an application attached", module="run"),
    "env": Command(summary="print the environment variables of `run`", module="env"),
    "ca": Command(summary="print the certificate for https clients", module="ca"),
    "history": Command(summary="list recorded HTTP requests, or follow them", module="history"),
    "ws": Command(summary="list recorded WebSockets, or follow them", module="ws"),
    "show": Command(
        summary="show one request or WebSocket in full, a report or a HAR", module="show"
    ),
    "report": Command(summary="merge the reports of test runs", module="report"),
    "har": Command(summary="write recorded requests as a HAR file", module="har"),
    "doctor": Command(
        summary="say where requests lost their test, and what to do", module="doctor"
    ),
    "status": Command(summary="show the proxy and who is connected", module="status"),
    "completion": Command(summary="complete commands in bash, zsh, fish", module="completion"),
}
"""All commands by name, in the order of the help."""


def _reactor() -> list[str]:
    """Return twistd's option of the reactor, unless Twisted's default is wanted.

    On macOS that is ``select``, which holds 1024 files; ``kqueue`` has no limit.

    :raises LocalError: Twisted has no reactor of the name in :data:`REACTOR`.
    """
    name = os.environ.get(REACTOR) or ("kqueue" if sys.platform == "darwin" else "")
    if not name:
        return []
    from twisted.application.reactors import getReactorTypes  # noqa: PLC0415 - see above

    known = sorted({each.shortName for each in getReactorTypes()})
    if name not in known:
        raise LocalError(
            f"{REACTOR}={name} names no reactor of Twisted; these are: {', '.join(known)}"
        )
    return ["--reactor", name]


def usage_text() -> str:
    """Return the help of the program: each command on one line."""
    lines = "".join(f"  {name:<11} {command.summary}\n" for name, command in COMMANDS.items())
    return (
        f"Usage: trafficmock COMMAND [options]\n\nCommands:\n{lines}\n"
        "`trafficmock COMMAND --help` lists the options of a command, with examples.\n\n"
        "Options:\n  --version   print the version\n  --help      print this text\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    :param arguments: the words after the program's name; by default those of ``sys.argv``.
    :raises SystemExit: with the exit status, unless that is 0.
    """
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    if sys.stdout is None:
        # The process was started with stdout closed (``>&-``). Without this, the next file or
        # socket that is opened would become file descriptor 1.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    words = list(sys.argv[1:] if arguments is None else arguments)
    name, rest = (words[0], words[1:]) if words else ("", [])
    try:
        status = _run(name, rest)
        sys.stdout.flush()
    except LocalError as error:
        # The message may quote a server, so control characters are escaped.
        said = import_module("trafficmock.texts.message_text").printable(str(error))
        sys.stderr.write(f"trafficmock {name}: {said}\n")
        status = getattr(error, "status", 1)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        _discard()
        status = 141
    except OSError as error:
        sys.stderr.write(f"trafficmock {name}: {_failure(error)}\n")
        _discard()
        status = 4
    if status:
        raise SystemExit(status)


def _failure(error: OSError) -> str:
    """Say what failed: a file with its name, or the output, which has none."""
    why = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {why}"
    if error.errno in _OF_OUTPUT:
        return f"the output cannot be written: {why}"
    return why


def _discard() -> None:
    """Connect stdout to the null device: Python flushes stdout once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(name: str, words: Sequence[str]) -> int:
    """Run a command, or print the help, the version or a usage error.

    :returns: the exit status.
    """
    if name in COMMANDS:
        return COMMANDS[name].run(name, words)
    if name in {"--help", "-h", "help"}:
        sys.stdout.write(usage_text())
        return 0
    if name == "--version":
        sys.stdout.write(f"trafficmock {__version__}\n")
        return 0
    if name:
        sys.stderr.write(f"trafficmock: {_unknown(name)}\n")
    else:
        sys.stderr.write(f"{usage_text()}\ntrafficmock: a command is missing\n")
    return 2


def _unknown(name: str) -> str:
    """Return the error for an unknown command, with the most similar command."""
    from difflib import get_close_matches  # noqa: PLC0415 - only when it is needed

    near = get_close_matches(name, COMMANDS, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown command {name!r}; {meant}`trafficmock --help` lists the commands"


def _complete() -> None:
    """Print the completions for the command line in ``COMP_LINE``, as argcomplete does."""
    completion = import_module("trafficmock.command.completion")
    commands = {name: str(each.options or each.module) for name, each in COMMANDS.items()}
    completion.complete(commands, os.environ.get("COMP_LINE", ""))
