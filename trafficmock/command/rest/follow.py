"""Follows a list of the REST API: prints new and changed entries until it is interrupted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from attrs import define, field

from trafficmock.command.output import list_columns
from trafficmock.command.output.table import Row, Table, fitted, widest
from trafficmock.command.output.terminal import Terminal, complain
from trafficmock.command.rest.list_resources import Listing
from trafficmock.command.rest.rest_client import RestClient, UnreachableError, entry_path

POLL_SECONDS = 0.5
AWAY_SECONDS = 1.0
RESTARTED = "the proxy was restarted; what it recorded before is gone"


@define(kw_only=True)
class Follower:
    """Prints entries when they appear, and again when their state changes.

    The first poll fetches all summaries. The next ones request changes (``since``) rather than
    newer entries: agents report some requests late, so that they appear behind newer ones. A poll
    without changes is answered with an empty 304.

    :param query: the filters that the proxy applies.
    :param accepts: returns whether to print one of the selected entries.
    :param redact: replaces the secrets of an entry that is printed.
    :param as_json: whether to print one JSON object a line instead of a table.
    :param sleep: sleeps for a number of seconds.
    """

    client: RestClient
    listing: Listing
    query: dict[str, Any] = field(repr=False)
    terminal: Terminal
    as_json: bool = False
    accepts: Callable[[list_columns.Entry], bool] = lambda _: True
    redact: Callable[[list_columns.Entry], list_columns.Entry] = lambda entry: entry
    sleep: Callable[[float], None] = time.sleep
    _etag: str | None = None
    _states: dict[str, object] = field(factory=dict)
    _latest: list_columns.Entry | None = None
    _table: Table | None = None
    _widest: list[Row] = field(factory=list)

    def run(self, first: int) -> NoReturn:
        """Print the newest entries, then follow the list.

        :param first: the number of recorded entries to print at the beginning.
        :raises UnreachableError: if the proxy does not answer the first poll.
        """
        self._poll(first)
        while True:
            self.sleep(POLL_SECONDS)
            lost = self.client.lost
            try:
                self._poll()
                if self.client.lost > lost and self._is_another():
                    complain(RESTARTED)
            except UnreachableError as error:
                self._wait(error)

    def _wait(self, error: UnreachableError) -> None:
        """Wait until the proxy answers again, and print whether it was restarted."""
        complain(f"the proxy is away ({error.__cause__ or error}); waiting for it to come back")
        while True:
            self.sleep(AWAY_SECONDS)
            try:
                another = self._is_another()
            except UnreachableError:
                continue
            complain(RESTARTED if another else "the proxy is back")
            return

    def _is_another(self) -> bool:
        """Return whether the proxy was restarted: it does not have the latest printed entry."""
        if self._latest is None:
            self.client.get("/health")
            return False
        path = entry_path(self.listing.kind, self._latest["id"])
        there = self.client.get(path).document.get(self.listing.one, {})
        return bool(there.get("timestamp") != self._latest["timestamp"])

    def _poll(self, first: int | None = None) -> None:
        """Print the changes since the last poll; at the first poll, ``first`` entries at most."""
        query = {**self.query, "since": self._etag, "fields": "summary"}
        answer = self.client.get(self.listing.path, query, self._etag)
        self._etag = answer.etag
        if answer.unchanged:
            return
        entries = self.listing.read(self.client, answer)[::-1]
        entries.sort(key=_age)
        news = self._news(entries, answer.document.get("removed"))
        self._print(news if first is None else news[max(0, len(news) - first) :])

    def _news(
        self, entries: Sequence[list_columns.Entry], removed: list[str] | None
    ) -> list[list_columns.Entry]:
        """Update the known states, and return the entries to print.

        :param entries: those of the response.
        :param removed: ids of entries that the proxy has dropped; ``None`` if the response is the
            whole list.
        """
        before = self._states
        for entry_id in removed or ():
            before.pop(entry_id, None)
        states = {entry["id"]: self.listing.state(entry) for entry in entries}
        changed = [each for each in entries if before.get(each["id"]) != states[each["id"]]]
        self._states = states if removed is None else before | states
        self._latest = entries[-1] if entries else self._latest
        return [self.redact(entry) for entry in changed if self.accepts(entry)]

    def _print(self, entries: Sequence[list_columns.Entry]) -> None:
        if self.as_json:
            for entry in entries:
                self.terminal.line(json.dumps(entry))
        elif entries:
            ids = list_columns.shortened(self._states, whole=self.terminal.width is None)
            lines = [self.listing.row(entry, ids[entry["id"]]) for entry in entries]
            table = self._fit(lines)
            for line in lines:
                table.row(self.terminal, line)
        self.terminal.flush()

    def _fit(self, lines: Sequence[Row]) -> Table:
        """Return a table that fits rows; if its widths change, write its head again."""
        self._widest = [widest([*self._widest, *lines])]
        table = self._table
        if table is None or not table.holds(lines):
            wanted = fitted(self.listing.columns, self._widest, self.terminal.width, more=True)
            if table is None or wanted.widths != table.widths:
                wanted.head(self.terminal)
                self._table = table = wanted
        return table


def _age(entry: list_columns.Entry) -> int:
    timestamp: int = entry["timestamp"]
    return timestamp
