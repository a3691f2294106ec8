"""``trafficmock run``: start an application attached.

The process becomes the command (``exec``), so signals, job control and the exit status are the
command's own. Windows has no ``exec``: there this process waits for the command, and ends with its
status.
The application is attached by its environment alone: a Node process loads the agent, a Python
process the preload, other processes use the forward proxy.
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from trafficmock.attach.hello_probe import check_welcome
from trafficmock.attach.node import may_start_node, runs_node
from trafficmock.attach.proxy_variables import ProxyAddress
from trafficmock.attach.python_preload import (
    ALLOW_UNATTACHED_VARIABLE,
    https_problem,
    runs_python,
)
from trafficmock.attach.rest_probe import AttachError, check_health
from trafficmock.command.arguments import command_parser
from trafficmock.command.attach_options import (
    HOW_IT_JOINS,
    add_attach_options,
    attachment,
    preload_of,
)
from trafficmock.errors import LocalError
from trafficmock.texts.message_text import printable

SEALED_VARIABLE = "TRAFFICMOCK_SEALED"
"""It is 1 in a sealed command, whose agents then say why a connection failed."""

EXAMPLES = """\
  trafficmock run -- node server.js
  trafficmock run --client-id shop -- flask run --port 5000
  trafficmock run --sealed --publish 3000 -- node server.js
"""

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses of a command that cannot be started (POSIX, Shell Command Language, 2.8.2)."""

IGNORED_BY_PYTHON = tuple(
    number
    for number in signal.valid_signals()
    if isinstance(number, signal.Signals) and number.name in {"SIGPIPE", "SIGXFSZ"}
)
"""Signals that the interpreter ignores from its start; an ignored signal stays so after exec."""


class CommandStartError(LocalError):
    """The command cannot be started.

    :param status: the exit status that a shell would return.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser("run", f"Run a command attached. {HOW_IT_JOINS}", EXAMPLES)
    made.usage = "trafficmock run [options] -- COMMAND..."
    add_attach_options(made)
    made.add_argument(
        "--allow-unattached",
        action="store_true",
        help="let Python import client libraries that cannot be attached",
    )
    made.add_argument(
        "--sealed",
        action="store_true",
        help="let the command reach the proxy and nothing else, by namespaces of Linux",
    )
    made.add_argument(
        "--reach",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="a server that a sealed command may reach, too; repeatable",
    )
    made.add_argument(
        "--publish",
        action="append",
        default=[],
        type=port_number,
        metavar="PORT",
        help="a port of a sealed command that can be reached on loopback; repeatable",
    )
    made.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="-- COMMAND...",
        help="the command and its arguments",
    )
    return made


def main(words: Sequence[str]) -> NoReturn:
    """Become the application's command, attached.

    :raises AttachError: if the proxy does not answer or refuses the token, if the agent is missing,
        or if the proxy is behind TLS and the command is Python's.
    :raises CertificateError: if files of certificates cannot be read or written here.
    :raises CommandStartError: if the command cannot be started.
    """
    reader = parser()
    options = reader.parse_args(words)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not any(command[:1]):
        reader.error("a command is missing: trafficmock run -- node server.js")
    if (options.reach or options.publish) and not options.sealed:
        reader.error("--reach and --publish are for a sealed command: add --sealed")
    found = attachment(options, _preload(options, command[0]))
    problem = https_problem(found.address.scheme, os.environ)
    if problem is not None and runs_python(command[0], os.environ.get("PATH")):
        raise AttachError(problem)
    check_health(found.address.base_url)
    check_welcome(found.address)
    if note := found.direct_note():
        sys.stderr.write(f"trafficmock: {printable(note)}\n")
    environment = found.environment()
    if options.allow_unattached:
        environment[ALLOW_UNATTACHED_VARIABLE] = "1"
    if options.sealed:
        environment = _sealed(found.address, options, environment)
    become(command, environment)


def _sealed(
    address: ProxyAddress, options: argparse.Namespace, environment: Mapping[str, str]
) -> dict[str, str]:
    """Seal this process, and return the environment of its command.

    :raises SealError: it cannot be sealed.
    """
    from trafficmock.command.sealing import sealed  # noqa: PLC0415 - it imports asyncio
    from trafficmock.command.sealing.namespaces import SealError  # noqa: PLC0415 - as above

    if address.scheme == "https":
        raise SealError(
            "a sealed command needs a proxy without TLS, to which it can say that it is sealed"
        )
    proxy = sealed.Place(address.host, address.port)
    reached = [sealed.Place.parse(text) for text in options.reach]
    sealed.check_proxy(proxy, reached)
    if note := sealed.root_note():
        sys.stderr.write(f"trafficmock: {note}\n")
    sealed.seal(proxy, reached, options.publish)
    kept = {name: text for name, text in environment.items() if name not in sealed.FILES_BY_NUMBER}
    return {**kept, SEALED_VARIABLE: "1"}


def port_number(text: str) -> int:
    """Read a port.

    :raises ValueError: it is no number from 1 to 65535.
    """
    if text.isascii() and text.isdigit() and 0 < int(text) < 2**16:
        return int(text)
    raise ValueError(text)


def become(command: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process by a command.

    :param command: the words of the command; the first is looked up in the ``PATH`` of the
        environment.
    :param environment: the whole environment of the command.
    :raises CommandStartError: if the command cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        if sys.platform == "win32":
            raise SystemExit(_wait_for(command, environment))
        os.execvpe(command[0], command, environment)  # noqa: S606 - running the user's command is the purpose
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        why = "command not found" if missing else os.strerror(error.errno or 0)
        status = NOT_FOUND if missing else NOT_EXECUTABLE
        raise CommandStartError(f"{command[0]}: {why}", status=status) from error


def _wait_for(command: list[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end, with Ctrl-C left to it; return its exit status.

    :raises OSError: it cannot be started.
    """
    # Programs such as npm have one of the extensions in PATHEXT, which Popen does not try.
    program = shutil.which(command[0], path=environment.get("PATH")) or command[0]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return subprocess.call([program, *command[1:]], env=environment)  # noqa: S603 - the user's command


def _preload(options: argparse.Namespace, command: str) -> Path | None:
    """Find the Node agent; ``None`` if it is missing and the command is not Node's.

    :raises AttachError: if it is missing and the command is Node's.
    """
    search = os.environ.get("PATH")
    try:
        return preload_of(options)
    except AttachError as error:
        if runs_node(command, search):
            raise
        if may_start_node(command, search):
            sys.stderr.write(f"trafficmock: for Node applications {error}\n")
        return None
