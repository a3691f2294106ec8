"""``trafficmock history``: list recorded HTTP requests. ``ws`` shares its functions."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from trafficmock.command.arguments import (
    REQUEST_ACTIONS,
    add_filters,
    add_output,
    add_redact,
    add_request_filters,
    command_parser,
    count,
    filters,
    proxy,
    redactor,
)
from trafficmock.command.exit_status import NOTHING, OK, REFUSED, USAGE, CommandError
from trafficmock.command.output.list_columns import has_status
from trafficmock.command.output.terminal import complain, standard_output
from trafficmock.command.rest.follow import Follower
from trafficmock.command.rest.list_resources import REQUESTS, Listing, print_table
from trafficmock.redaction.redacted_documents import redacted_record

LISTED = 100
FOLLOWED = 10

EXAMPLES = """\
  trafficmock history
  trafficmock history --follow --action passthrough
  trafficmock history --method POST --status 5xx
  trafficmock history -q payments --from 10m
  trafficmock history --action passthrough --fail  # status 1 if any ever passed
  trafficmock history --all --full --json > history.json
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
    made.add_argument("--all", action="store_true", help=f"all, not only the newest {LISTED}")
    made.add_argument(
        "--full", action="store_true", help="with --json: headers, bodies and events, too"
    )
    made.add_argument(
        "--fail",
        action="store_true",
        help="exit with status 1 if one fits, also one that is no longer recorded; else with 0",
    )
    add_redact(made)
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
    _check(options)
    redact = partial(redacted_record, redactor=redactor(options, client))
    if options.follow:
        wanted = query.pop("status")
        follower = Follower(
            client=client,
            listing=listing,
            query=query,
            terminal=terminal,
            as_json=options.json,
            accepts=lambda entry: has_status(entry, wanted),
            redact=redact,
        )
        follower.run(FOLLOWED if options.limit is None else options.limit)
    most = None if options.all else LISTED
    query["limit"] = most if options.limit is None else options.limit
    query["offset"] = options.offset
    entries = [redact(entry) for entry in listing.get(client, query, full=options.full)]
    if options.json:
        terminal.line(json.dumps({listing.key: entries}))
        status = OK if entries else NOTHING
    else:
        status = print_table(listing, entries, terminal)
    terminal.flush()
    counts = client.get("/api/summary")
    totals = counts.document[listing.totals] if counts.found else None
    if options.limit is None and len(entries) == most and not options.json:
        complain(f"these are the newest {LISTED}; --all shows all")
    if totals is not None and totals["dropped"]:
        complain(
            f"{totals['dropped']} older ones are gone: the history is limited (--history-limit)"
        )
    return _verdict(entries, query, totals) if options.fail else status


def _check(options: argparse.Namespace) -> None:
    """Check that the options go together.

    :raises CommandError: if they do not.
    """
    wrong = None
    if options.follow and (options.to is not None or options.offset):
        wrong = "--follow goes with neither --to nor --offset"
    elif options.follow and (options.all or options.fail or options.full):
        wrong = "--follow goes with none of --all, --fail and --full"
    elif options.all and options.limit is not None:
        wrong = "--all and --limit exclude each other"
    elif options.full and not options.json:
        wrong = "--full goes with --json"
    if wrong is not None:
        raise CommandError(wrong, status=USAGE)


def _verdict(
    entries: Sequence[object], query: Mapping[str, Any], totals: Mapping[str, Any] | None
) -> int:
    """Return the exit status of ``--fail``, and say why it is 1 if the list does not show it.

    :param totals: the counts since the start of the proxy, if it has them.
    :raises CommandError: if it has none, and the list is empty.
    """
    if entries:
        return NOTHING
    if totals is None:
        raise CommandError(
            "the proxy does not count what it no longer records: it is another version",
            status=REFUSED,
        )
    action = query["action"]
    others = {**query, "action": None, "limit": None, "offset": None}
    if any(value is not None for value in others.values()):
        if gone := totals["total"] - totals["recorded"]:
            complain(f"{gone} more are not in the history, and may have fitted")
            return NOTHING
        return OK
    ever = totals["total"] if action is None else totals["decisions"].get(action, 0)
    if ever:
        complain(f"{ever} since the start of the proxy, which are not in the history any more")
        return NOTHING
    return OK
