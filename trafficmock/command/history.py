"""``trafficmock history``: list recorded HTTP requests. ``ws`` shares its functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trafficmock.command.arguments import (
    REQUEST_ACTIONS,
    add_filters,
    add_output,
    add_request_filters,
    command_parser,
    count,
    filters,
    proxy,
)
from trafficmock.command.exit_status import NOTHING, OK, USAGE, CommandError
from trafficmock.command.output.list_columns import has_status
from trafficmock.command.output.terminal import complain, standard_output
from trafficmock.command.rest.follow import Follower
from trafficmock.command.rest.list_resources import REQUESTS, Listing, print_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

LISTED = 100
FOLLOWED = 10

EXAMPLES = """\
  trafficmock history
  trafficmock history --follow --action passthrough
  trafficmock history --method POST --status 5xx
  trafficmock history -q payments --from 10m
  trafficmock history --json --limit 5 | jq -r '.entries[].request.url'
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "history", "List recorded HTTP requests, the newest at the end.", EXAMPLES
    )
    add_list_options(made, "the proxy's answer; with --follow one entry a line")
    add_filters(made, REQUEST_ACTIONS)
    add_request_filters(made)
    return made


def add_list_options(made: argparse.ArgumentParser, as_json: str) -> None:
    made.add_argument("-f", "--follow", action="store_true", help="print new ones as they come")
    made.add_argument(
        "-n",
        "--limit",
        type=count,
        metavar="N",
        help=f"the N newest (default {LISTED}; with --follow {FOLLOWED} at first)",
    )
    made.add_argument(
        "--offset", type=count, metavar="N", help="leave out the N newest (default 0)"
    )
    add_output(made, as_json)


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises CommandError: if an option is wrong, or the proxy does not answer.
    """
    return show_list(REQUESTS, parser().parse_args(words))


def show_list(listing: Listing, options: argparse.Namespace) -> int:
    """Print a list, or follow it.

    :returns: the exit status.
    :raises CommandError: if options exclude each other, or the proxy does not answer.
    """
    client, terminal, query = proxy(options), standard_output(options.color), filters(options)
    if options.follow:
        if options.to is not None or options.offset:
            raise CommandError("--follow goes with neither --to nor --offset", status=USAGE)
        wanted = query.pop("status")
        follower = Follower(
            client=client,
            listing=listing,
            query=query,
            terminal=terminal,
            as_json=options.json,
            accepts=lambda entry: has_status(entry, wanted),
        )
        follower.run(FOLLOWED if options.limit is None else options.limit)
    query["limit"] = LISTED if options.limit is None else options.limit
    query["offset"] = options.offset
    entries = listing.get(client, query)
    if options.json:
        terminal.line(json.dumps({listing.key: entries}))
        return OK if entries else NOTHING
    status = print_table(listing, entries, terminal)
    if options.limit is None and len(entries) == LISTED:
        terminal.flush()
        complain(f"these are the newest {LISTED}; --limit shows more")
    return status
