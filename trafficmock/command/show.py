"""``trafficmock show``: print all recorded data of one request or WebSocket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trafficmock.command.arguments import add_output, command_parser, proxy
from trafficmock.command.exit_status import OK
from trafficmock.command.output.request_page import write_request
from trafficmock.command.output.terminal import standard_output
from trafficmock.command.output.websocket_page import write_socket
from trafficmock.command.rest.id_lookup import completed_ids, find, newest
from trafficmock.command.rest.list_resources import SOCKETS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

EXAMPLES = """\
  trafficmock show                 # the newest
  trafficmock show 7341eb17
  trafficmock show 7341eb17 --full | less
  trafficmock show 7341eb17 --json | jq .entry.events
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser("show", "Show one recorded request or WebSocket.", EXAMPLES)
    ids = made.add_argument(
        "id",
        metavar="ID",
        nargs="?",
        help="its id, or a unique beginning of it (default: the newest)",
    )
    ids.completer = completed_ids  # type: ignore[attr-defined] # argcomplete looks there
    made.add_argument("--full", action="store_true", help="print long bodies and frames whole")
    add_output(made, "the proxy's answer")
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises CommandError: if the proxy does not answer, or the id is unknown or not unique.
    """
    options = parser().parse_args(words)
    terminal = standard_output(options.color)
    client = proxy(options)
    found = newest(client) if options.id is None else find(client, options.id)
    if options.json:
        terminal.line(json.dumps(found.document))
    else:
        write = write_socket if found.listing is SOCKETS else write_request
        write(found.entry, terminal, full=options.full)
    return OK
