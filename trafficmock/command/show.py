"""``trafficmock show``: print one request or WebSocket, or serve a report or a HAR as a page."""

from __future__ import annotations

import argparse
import json
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from trafficmock.command.arguments import (
    add_output,
    add_redact,
    command_parser,
    proxy,
    redactor,
    redactor_of,
)
from trafficmock.command.exit_status import NOTHING, OK, UNREACHABLE, CommandError
from trafficmock.command.output.request_page import write_request
from trafficmock.command.output.terminal import Terminal, standard_output
from trafficmock.command.output.websocket_page import write_socket
from trafficmock.command.rest.id_lookup import Found, completed_ids, find, newest
from trafficmock.command.rest.list_resources import SOCKETS
from trafficmock.command.rest.rest_client import RestClient
from trafficmock.redaction.redacted_documents import redacted_record
from trafficmock.redaction.redactor import Redactor
from trafficmock.report.har_reader import read_har
from trafficmock.report.page_server import SavedPageServer
from trafficmock.report.report_directory import for_page, read_report
from trafficmock.report.saved_page import saved_page
from trafficmock.texts.message_text import printable

EXAMPLES = """\
  trafficmock show                 # the newest
  trafficmock show 7341eb17
  trafficmock show 7341eb17 --full | less
  trafficmock show 7341eb17 --redact json:user.email
  trafficmock show 7341eb17 --json | jq .entry.events
  trafficmock show report          # a report of a test run, as a page
  trafficmock show traffic.har --open
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "show",
        "Show one recorded request or WebSocket, or the report of a test run, or a HAR of "
        "whatever program. A report or HAR is shown by the dashboard, until Ctrl-C.",
        EXAMPLES,
    )
    ids = made.add_argument(
        "id",
        metavar="ID|DIR|FILE",
        nargs="?",
        help="the id of an entry, or a unique beginning of it (default: the newest); or the "
        "directory of a report; or a HAR file",
    )
    ids.completer = completed_ids  # type: ignore[attr-defined] # argcomplete looks there
    made.add_argument("--full", action="store_true", help="print long bodies and frames whole")
    made.add_argument("--open", action="store_true", help="with a report or HAR: open the browser")
    add_redact(made)
    add_output(made, "the proxy's answer")
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises CommandError: if the proxy does not answer, or the id is unknown or not unique.
    :raises LocalError: if a file or directory is no HAR and no report.
    """
    options = parser().parse_args(words)
    terminal = standard_output(options.color)
    if options.id is not None and _is_path(options.id):
        marks = redactor_of(options, Redactor())
        _serve(Path(options.id), terminal, marks, with_browser=options.open)
        return OK
    client = proxy(options)
    found = newest(client) if options.id is None else _find(client, options.id)
    document = redacted_record(found.document, redactor(options, client))
    if options.json:
        terminal.line(json.dumps(document))
    else:
        write = write_socket if found.listing is SOCKETS else write_request
        write(document[found.listing.one], terminal, full=options.full)
    return OK


def _find(client: RestClient, given: str) -> Found:
    """Find an entry by its id.

    :raises CommandError: as for ``find``. It also says that no file has this name, because the
        name of a report may be misspelt, or relative to another directory.
    """
    try:
        return find(client, given)
    except CommandError as error:
        if not given or error.status not in (NOTHING, UNREACHABLE):
            raise
        reason = str(error).rstrip(".")
        message = f"{reason}. No report or HAR has the name {printable(given)} either."
        raise CommandError(message, status=error.status) from error


def _is_path(text: str) -> bool:
    """Return whether a text is a path, and not an id: ids have neither separators nor endings."""
    return Path(text).exists() or "/" in text or text.endswith((".har", ".zip"))


def _serve(path: Path, terminal: Terminal, redactor: Redactor, *, with_browser: bool) -> None:
    """Serve the page of a report or HAR until the command is ended.

    :param redactor: replaces the secrets of a HAR, since pages let copy what they show.
    :raises LocalError: it is neither.
    """
    is_report = path.is_dir()
    document = for_page(read_report(path)) if is_report else read_har(path)
    document = redacted_record(document, redactor)
    with SavedPageServer(saved_page(document), path if is_report else None) as server:
        terminal.line(f"{path} is at {server.url} (Ctrl-C ends it)")
        terminal.flush()
        if with_browser:
            webbrowser.open(server.url)
        server.serve_forever()
