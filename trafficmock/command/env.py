"""``trafficmock env``: print the variables that ``trafficmock run`` sets."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence

from trafficmock.attach.python_preload import https_problem
from trafficmock.command.arguments import command_parser
from trafficmock.command.attach_options import (
    HOW_IT_JOINS,
    add_attach_options,
    attachment,
    preload_of,
)
from trafficmock.command.exit_status import OK

FORMATS = ("shell", "dotenv", "json")
EXAMPLES = """\
  eval "$(trafficmock env --client-id shop)"
  trafficmock env --format dotenv > .env.trafficmock
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "env", f"Print the environment variables of `run`. {HOW_IT_JOINS}", EXAMPLES
    )
    add_attach_options(made)
    made.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default {FORMATS[0]})",
    )
    return made


def formatted(variables: Mapping[str, str], style: str) -> str:
    """Write variables for a shell, as a dotenv file, or as JSON.

    :param style: one of :data:`FORMATS`.
    """
    if style == "json":
        return f"{json.dumps(variables, indent=2)}\n"
    if style == "shell":
        return "".join(f"export {k}={shlex.quote(v)}\n" for k, v in variables.items())
    # dotenv does not expand values in single quotes; a value with one gets backquotes.
    return "".join(f"{k}='{v}'\n" if "'" not in v else f"{k}=`{v}`\n" for k, v in variables.items())


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises AttachError: if the agent is missing, or the proxy is on another machine and does not
        answer.
    :raises CertificateError: if files of certificates cannot be read or written here.
    """
    options = parser().parse_args(words)
    # The variables may be for a Node process, so a missing agent is an error.
    found = attachment(options, preload_of(options))
    problem = https_problem(found.address.scheme, os.environ)
    if problem is not None:
        sys.stderr.write(f"trafficmock: {problem}\n")
    sys.stdout.write(formatted(found.variables(), options.format))
    return OK
