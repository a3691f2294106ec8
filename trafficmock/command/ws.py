"""``trafficmock ws``: list recorded WebSocket connections."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from trafficmock.command.arguments import SOCKET_ACTIONS, add_filters, command_parser
from trafficmock.command.history import add_list_options, show_list
from trafficmock.command.rest.list_resources import SOCKETS

EXAMPLES = """\
  trafficmock ws
  trafficmock ws --follow --client-id chat
  trafficmock show ID          # one connection with its frames
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "ws", "List recorded WebSocket connections, the newest at the end.", EXAMPLES
    )
    add_list_options(made, "the proxy's answer; with --follow one connection a line")
    add_filters(made, SOCKET_ACTIONS)
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises CommandError: if an option is wrong, or the proxy does not answer.
    """
    return show_list(SOCKETS, parser().parse_args(words))
