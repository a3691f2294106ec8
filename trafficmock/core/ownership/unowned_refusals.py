"""The refused requests that no test owns, for the workers that ask: the list of one run.

It is kept from the start of the service, so that what an application asks before the first test
is in it. A run is over when the last connection is gone that has shown an interest in the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import structs

from trafficmock.core.peers import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trafficmock.core.peers import Agent, Client
    from trafficmock.wire.payloads.refused_request import UnmatchedRequest

MOST_ROWS = 1000
"""Different requests that are kept; what comes beyond is only counted."""

LONGEST_METHOD = 1000
"""Characters of a method that the list has; URLs are shown up to a length of their own."""

RowKey = tuple[str, str, str, str]
"""Kind, method, URL as it is shown, client id."""


@define
class UnownedRefusals:
    """The list.

    :param clients: lists who is connected.
    :ivar interested: connections that have asked for the list, or made their run strict.
    :ivar dropped: how many requests found no place.
    """

    clients: Callable[[], Iterable[Client]]
    rows: dict[RowKey, UnmatchedRequest] = field(factory=dict)
    interested: set[str] = field(factory=set)
    dropped: int = 0

    def again(self, key: RowKey) -> str | None:
        """Count a request that is in the list already, and give its message."""
        row = self.rows.get(key)
        if row is None:
            return None
        self.rows[key] = structs.replace(row, count=row.count + 1)
        return row.message

    def add(self, row: UnmatchedRequest, agent: Agent) -> None:
        """Take in a request that is not in the list.

        An application that was there when the last run ended counts only while a worker is
        connected: a development server goes on between runs.
        """
        if agent.of_past_run and not any(isinstance(each, Worker) for each in self.clients()):
            return
        if len(self.rows) < MOST_ROWS and len(row.method) <= LONGEST_METHOD:
            self.rows[row.kind, row.method, row.url, row.client_id] = row
        else:
            self.dropped += 1

    def left(self, worker: Worker, agents: Iterable[Agent]) -> None:
        """Take note that a worker is gone; with the last one that is interested the run ends."""
        if worker.id not in self.interested:
            return
        self.interested.remove(worker.id)
        if not self.interested:
            self.rows.clear()
            self.dropped = 0
            for agent in agents:
                agent.of_past_run = True
