"""The two lists of the REST API, and how the commands name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from trafficmock.command import rows
from trafficmock.command.ends import NOTHING, OK
from trafficmock.command.table import fitted
from trafficmock.command.terminal import complain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trafficmock.command.client import Answer, ProxyClient
    from trafficmock.command.table import Cell, Column
    from trafficmock.command.terminal import Terminal


@frozen(kw_only=True)
class Listing:
    """One of the lists.

    :param kind: ``history`` or ``ws``, as in the path.
    :param key: what the list is called in the answer.
    :param one: what one entry is called there.
    :param row: shows an entry under an id that may be shortened.
    :param state: what of an entry is worth a new line when it changes.
    :param settled: whether nothing is to be expected of an entry any more.
    """

    kind: str
    key: str
    one: str
    columns: Sequence[Column]
    row: Callable[[rows.Entry, str], Sequence[Cell]]
    state: Callable[[rows.Entry], object]
    settled: Callable[[rows.Entry], bool]

    @property
    def path(self) -> str:
        """The path of the list."""
        return f"/api/{self.kind}"

    def get(self, client: ProxyClient, query: dict[str, Any]) -> list[rows.Entry]:
        """Fetch entries as summaries, newest or best first."""
        return self.read(client, client.get(self.path, {**query, "fields": "summary"}))

    def read(self, client: ProxyClient, answer: Answer) -> list[rows.Entry]:
        """Take the entries out of an answer; one without news has none.

        :raises UnreachableError: no trafficmock proxy gives this answer.
        """
        if answer.unchanged:
            return []
        entries = answer.document.get(self.key)
        if not isinstance(entries, list) or not all(map(_has_id, entries)):
            raise client.stranger()
        return entries


def _has_id(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)


def _request_state(entry: rows.Entry) -> object:
    response = entry["outcome"].get("response", {})
    return entry["timestamp"], entry["action"], response.get("status"), rows.error_code(entry)


def _request_settled(entry: rows.Entry) -> bool:
    """Tell whether it has all: after continue and passthrough the response comes later."""
    goes_upstream = entry["action"] in ("continue", "passthrough")
    answered = "response" in entry["outcome"] or rows.upstream_error(entry) is not None
    return entry["action"] != "pending" and (answered or not goes_upstream)


REQUESTS = Listing(
    kind="history",
    key="entries",
    one="entry",
    columns=rows.REQUEST_COLUMNS,
    row=rows.request_row,
    state=_request_state,
    settled=_request_settled,
)
SOCKETS = Listing(
    kind="ws",
    key="connections",
    one="connection",
    columns=rows.SOCKET_COLUMNS,
    row=rows.socket_row,
    state=lambda entry: (entry["timestamp"], entry["outcome"], entry.get("closedAt")),
    settled=lambda entry: "closedAt" in entry,
)


def print_table(listing: Listing, entries: Sequence[rows.Entry], terminal: Terminal) -> int:
    """Print a list as a table, the newest or best at the end, next to the prompt.

    :returns: the exit status.
    """
    if not entries:
        complain("nothing is recorded that fits")
        return NOTHING
    ids = rows.shortened((entry["id"] for entry in entries), whole=terminal.width is None)
    lines = [listing.row(entry, ids[entry["id"]]) for entry in reversed(entries)]
    table = fitted(listing.columns, lines, terminal.width)
    table.head(terminal)
    for line in lines:
        table.row(terminal, line)
    return OK
