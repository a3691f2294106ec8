"""The two lists of the REST API, with their columns in tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from trafficmock.command.exit_status import NOTHING, OK
from trafficmock.command.output import list_columns
from trafficmock.command.output.table import Cell, Column, fitted
from trafficmock.command.output.terminal import Terminal, complain
from trafficmock.command.rest.rest_client import RestClient, RestResponse


@frozen(kw_only=True)
class Listing:
    """One of the lists.

    :param kind: ``history`` or ``ws``, as in the path.
    :param key: the name of the list in its response.
    :param totals: the key of its counts in ``/api/summary``.
    :param one: the name of the entry in the response for one entry.
    :param columns: the columns of the table.
    :param row: makes the cells of an entry, with its shown id.
    :param state: returns the part of an entry whose change is printed by ``--follow``.
    """

    kind: str
    key: str
    totals: str
    one: str
    columns: Sequence[Column]
    row: Callable[[list_columns.Entry, str], Sequence[Cell]]
    state: Callable[[list_columns.Entry], object]

    @property
    def path(self) -> str:
        return f"/api/{self.kind}"

    def get(
        self, client: RestClient, query: dict[str, Any], *, full: bool = False
    ) -> list[list_columns.Entry]:
        """Fetch entries, newest or best first.

        :param full: whether with headers, bodies and events; else as summaries.
        """
        fields = None if full else "summary"
        return self.read(client, client.get(self.path, {**query, "fields": fields}))

    def read(self, client: RestClient, answer: RestResponse) -> list[list_columns.Entry]:
        """Return the entries in a response; none for 304.

        :raises UnreachableError: if the response is not that of a trafficmock proxy.
        """
        if answer.unchanged:
            return []
        entries = answer.document.get(self.key)
        if not isinstance(entries, list) or not all(map(_has_id, entries)):
            raise client.not_a_proxy_error()
        return entries


def _has_id(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)


def _request_state(entry: list_columns.Entry) -> object:
    response = entry["outcome"].get("response", {})
    return (
        entry["timestamp"],
        entry["action"],
        response.get("status"),
        list_columns.error_code(entry),
    )


REQUESTS = Listing(
    kind="history",
    key="entries",
    totals="requests",
    one="entry",
    columns=list_columns.REQUEST_COLUMNS,
    row=list_columns.request_row,
    state=_request_state,
)
SOCKETS = Listing(
    kind="ws",
    key="connections",
    totals="webSockets",
    one="connection",
    columns=list_columns.SOCKET_COLUMNS,
    row=list_columns.socket_row,
    state=lambda entry: (entry["timestamp"], entry["outcome"], entry.get("closedAt")),
)


def print_table(listing: Listing, entries: Sequence[list_columns.Entry], terminal: Terminal) -> int:
    """Print a list as a table, with the newest or best entry at the end, next to the prompt.

    :returns: the exit status.
    """
    if not entries:
        complain("nothing is recorded that fits")
        return NOTHING
    ids = list_columns.shortened((entry["id"] for entry in entries), whole=terminal.width is None)
    lines = [listing.row(entry, ids[entry["id"]]) for entry in reversed(entries)]
    table = fitted(listing.columns, lines, terminal.width)
    table.head(terminal)
    for line in lines:
        table.row(terminal, line)
    return OK
