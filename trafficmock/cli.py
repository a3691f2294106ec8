"""The command ``trafficmock``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from twisted.python import usage
from twisted.scripts import twistd

from trafficmock import __version__, attach

if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE = """\
Usage: trafficmock COMMAND [options]

Commands:
  serve    run the proxy in the foreground; `trafficmock serve --help` lists the options
           example: trafficmock serve --port 4310
  dashboard
           show the recorded traffic in a browser; `trafficmock dashboard --help`
           example: trafficmock dashboard --port 4311 --proxy-url http://127.0.0.1:4310
  run      start an application attached to the proxy
           example: trafficmock run --client-id shop -- node server.js
  env      print what `run` sets: --format shell, dotenv or json

Options:
  --version  print the version
  --help     print this text
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    :param arguments: the words after the command's name; by default the process's.
    :raises SystemExit: with the exit status, as the commands end.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    command, rest = (words[0], words[1:]) if words else ("", [])
    if command == "serve":
        serve(rest)
    elif command == "dashboard":
        serve(rest, "trafficmock-dashboard")
    elif command in {"run", "env"}:
        attached(command, rest)
    elif command in {"--help", "-h"}:
        sys.stdout.write(_USAGE)
    elif command == "--version":
        sys.stdout.write(f"trafficmock {__version__}\n")
    else:
        what = f"unknown command {command!r}" if command else "a command is missing"
        sys.stderr.write(f"trafficmock: {what}\n\n{_USAGE}")
        raise SystemExit(2)


def attached(command: str, arguments: Sequence[str]) -> None:
    """Run ``trafficmock run`` or ``trafficmock env``.

    :raises SystemExit: with status 1 when it cannot be done, 2 when it was said wrongly.
    """
    try:
        if command == "run":
            attach.run(arguments)
        else:
            sys.stdout.write(attach.env(arguments))
    except usage.UsageError as error:
        sys.stderr.write(f"trafficmock {command}: {error}\n")
        raise SystemExit(2) from error
    except attach.AttachError as error:
        sys.stderr.write(f"trafficmock {command}: {error}\n")
        raise SystemExit(1) from error


def serve(arguments: Sequence[str], plugin: str = "trafficmock") -> None:
    """Run the proxy as ``twistd -n trafficmock`` does, or another service by its plugin."""
    sys.argv = ["trafficmock", "--nodaemon", plugin, *arguments]
    twistd.run()
