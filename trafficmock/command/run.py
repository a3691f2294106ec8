"""``trafficmock run``: start an application attached.

The application is attached by its environment alone: a Node process loads the agent, a Python
process the preload, other processes use the forward proxy.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from trafficmock.attach.hello_probe import check_welcome
from trafficmock.attach.node import may_start_node, runs_node
from trafficmock.attach.python_preload import https_problem, runs_python
from trafficmock.attach.rest_probe import AttachError, check_health
from trafficmock.command.arguments import command_parser, count
from trafficmock.command.attach_options import (
    HOW_IT_JOINS,
    add_attach_options,
    attachment,
    preload_of,
)
from trafficmock.command.supervision.foreground import run_command
from trafficmock.redaction import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EXAMPLES = """\
  trafficmock run -- node server.js
  trafficmock run --client-id shop -- flask run --port 5000
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser("run", f"Run a command attached. {HOW_IT_JOINS}", EXAMPLES)
    made.usage = "trafficmock run [options] -- COMMAND..."
    add_attach_options(made)
    made.add_argument(
        "--stop-timeout-ms",
        type=count,
        default=5000,
        metavar="MS",
        help="time until remaining processes of the command are killed (default 5000)",
    )
    made.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="-- COMMAND...",
        help="the command and its arguments",
    )
    return made


def main(words: Sequence[str]) -> NoReturn:
    """Run the application's command, and end with its exit status or by its signal.

    :raises AttachError: if the proxy does not answer or refuses the token, if the agent is missing,
        or if the proxy is behind TLS and the command is Python's.
    :raises CertificateError: if files of certificates cannot be read or written here.
    :raises CommandStartError: if the command cannot be started.
    :raises SystemExit: with the command's exit status.
    """
    reader = parser()
    options = reader.parse_args(words)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        reader.error("a command is missing: trafficmock run -- node server.js")
    found = attachment(options, _preload(options, command[0]))
    problem = https_problem(found.address.scheme, os.environ)
    if problem is not None and runs_python(command[0], os.environ.get("PATH")):
        raise AttachError(problem)
    check_health(found.address.base_url)
    check_welcome(found.address)
    if note := found.strict_note():
        sys.stderr.write(f"trafficmock: {printable(note)}\n")
    run_command(command, found.environment(), options.stop_timeout_ms / 1000)


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
