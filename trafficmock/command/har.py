"""``trafficmock har``: write recorded requests as one HAR file, or check one that tests replay.

The REST API returns the HAR of one request; this module merges those of several.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trafficmock.command.arguments import (
    REQUEST_ACTIONS,
    add_filters,
    add_redact,
    add_request_filters,
    command_parser,
    count,
    filters,
    proxy,
    redactor,
)
from trafficmock.command.exit_status import NOTHING, OK, USAGE, CommandError
from trafficmock.command.output.list_columns import Entry
from trafficmock.command.output.terminal import complain, standard_output
from trafficmock.command.rest.id_lookup import completed_ids, find
from trafficmock.command.rest.list_resources import REQUESTS
from trafficmock.command.rest.rest_client import RestClient, entry_path
from trafficmock.errors import LocalError
from trafficmock.report.report_directory import read_report
from trafficmock.report.report_settings import DIRECTORY_VARIABLE
from trafficmock.report.unused_entries import check_har
from trafficmock.texts.message_text import printable
from trafficmock.whole_files import rewrite_whole

EXAMPLES = """\
  trafficmock har 7341eb17 -o charge.har
  trafficmock har 7341eb17 --chain -o login.har   # with all its redirects
  trafficmock har -o all.har
  trafficmock har --failed -o all.har   # with those that got no response
  trafficmock har --redact header:x-customer --redact json:user.email -o all.har
  trafficmock har -q api.example --from 10m -o api.har
  trafficmock har check tests/hars/*.har --report report   # what no test used
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "har",
        "Write recorded requests as one HAR 1.2 file: those with the given ids, those that the "
        "filters select, or all. routeFromHAR and route_from_har replay it. Or, by the word check, "
        "list the entries of such files that no test of a run has used; status 1 if there are any.",
        EXAMPLES,
    )
    ids = made.add_argument(
        "ids",
        metavar="ID|check FILE",
        nargs="*",
        help="an id, or a unique beginning of one; or the word check, and HAR files",
    )
    ids.completer = completed_ids  # type: ignore[attr-defined] # argcomplete looks there
    made.add_argument(
        "--chain", action="store_true", help="include all hops of each redirect chain"
    )
    made.add_argument(
        "-o", "--output", metavar="FILE", help="file to write (default: standard output)"
    )
    made.add_argument(
        "--failed",
        action="store_true",
        help="include requests without a response, with the status 0 and _error",
    )
    made.add_argument(
        "--report",
        metavar="DIR",
        default=os.environ.get(DIRECTORY_VARIABLE) or None,
        help=f"with check: the report of the run (default: {DIRECTORY_VARIABLE})",
    )
    add_redact(made)
    made.add_argument("-n", "--limit", type=count, metavar="N", help="only the N newest")
    add_filters(made, REQUEST_ACTIONS)
    add_request_filters(made)
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises CommandError: if the proxy does not answer, an id is unknown, there is no HAR, or the
        file cannot be written.
    """
    options = parser().parse_args(words)
    if options.ids[:1] == ["check"]:
        return check(options.ids[1:], options.report)
    query = {name: value for name, value in filters(options).items() if value is not None}
    if options.limit is not None:
        query["limit"] = options.limit
    if options.ids and query:
        raise CommandError("har takes ids or filters, not both: see --help", status=USAGE)
    client = proxy(options)
    chosen = _named(client, options.ids) if options.ids else REQUESTS.get(client, query)[::-1]
    if options.chain:
        chosen = [hop for entry in chosen for hop in chain(client, entry)]
    redactor(options, client)  # which checks the words
    document = compose(client, chosen, failed=options.failed, redact=options.redact)
    _write(document, options.output)
    return OK


def check(files: Sequence[str], report: str | None) -> int:
    """List the entries of HAR files that no test of a run has used.

    :param report: the directory of the run's report.
    :returns: the exit status.
    :raises CommandError: there is no report; or a file cannot be read, or has changed since.
    """
    if not files:
        raise CommandError("check takes the HAR files that tests replay", status=USAGE)
    if report is None:
        why = "which run? Write its report (pytest --trafficmock-report=DIR), and give --report DIR"
        raise CommandError(why, status=USAGE)
    out, status = standard_output("never"), OK
    try:
        run = read_report(Path(report))
        found = [(each, check_har(Path(each), run, Path.cwd())) for each in files]
    except LocalError as error:
        raise CommandError(str(error), status=USAGE) from error
    for process in run["processes"]:
        if not process["ended"]:
            complain(
                f"worker {process['worker']} of {process['runner']} did not end: see the report"
            )
    for name, result in found:
        shown, count = printable(name), len(result.unused)
        if not count:
            out.line(f"{shown}: all of {result.total} entries were used")
            continue
        status = NOTHING
        nobody = "" if result.is_known else ", and no test of the run has replayed the file"
        out.line(f"{shown}: {count} of {result.total} entries were not used{nobody}")
        for number, request in result.unused.items():
            out.line(f"  {number}  {printable(request)}")
    return status


def chain(client: RestClient, entry: Entry) -> list[Entry]:
    """Return the redirect chain of an entry, as far as the history has it.

    :returns: the hops in their order.
    """
    hops = {entry["id"]: entry}
    for link in ("redirectedFromId", "redirectedToId"):
        at: Entry | None = entry
        while at is not None and at.get(link) is not None and at[link] not in hops:
            at = client.get(entry_path("history", at[link])).document.get("entry")
            if at is not None:
                hops[at["id"]] = at
        # Two hops may have the same millisecond, so the links give the order.
        hops = dict(reversed(hops.items())) if link == "redirectedFromId" else hops
    return list(hops.values())


def compose(
    client: RestClient,
    entries: Sequence[Entry],
    *,
    failed: bool = False,
    redact: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Merge the HARs of entries, the oldest first.

    :param entries: in the order that is kept for entries of the same millisecond.
    :param failed: whether to include those without a response.
    :param redact: the fields that are secret besides those of the proxy, or ``off``.
    :raises CommandError: if none of them has a HAR.
    """
    once = {entry["id"]: entry for entry in entries}
    ordered = sorted(once.values(), key=lambda entry: int(entry["timestamp"]))
    documents = list(_documents(client, ordered, failed=failed, redact=redact))
    if left := len(ordered) - len(documents):
        complain(f"{left} of {len(ordered)} left out: no response was recorded (see --failed)")
    if not documents:
        raise CommandError("there is no response to make a HAR of", status=NOTHING)
    whole = documents[0]
    whole["log"]["entries"] = [one for har in documents for one in har["log"]["entries"]]
    return whole


def _named(client: RestClient, ids: Sequence[str]) -> list[Entry]:
    return [find(client, given, [REQUESTS]).entry for given in ids]


def _documents(
    client: RestClient, entries: Sequence[Entry], *, failed: bool, redact: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    query = {"failed": "true" if failed else None, "redact": redact}
    for entry in entries:
        answer = client.get(entry_path("history", entry["id"], "/har"), query)
        if answer.found:
            yield answer.document


def _write(document: dict[str, Any], output: str | None) -> None:
    """Write the file in ASCII, so that no recorded control character reaches a terminal."""
    text = f"{json.dumps(document, indent=2)}\n"
    if output in (None, "-"):
        standard_output().out.write(text)
        return
    path = Path(str(output))
    try:
        rewrite_whole(path, text.encode("ascii"))
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror}", status=NOTHING) from error
    entries = len(document["log"]["entries"])
    complain(f"{entries} {'entry' if entries == 1 else 'entries'} in {printable(str(output))}")
