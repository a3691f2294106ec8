"""The list of the refused requests that no test owns, of one strict run.

The list begins with the service, so that it has the requests of an application before the first
test; what was refused before the run's own process had started is not of it. The list is cleared
when the last connection ends that has requested it or begun a strict run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import define, field
from msgspec import structs

from trafficmock.core.state.peers import Agent, Client, Worker
from trafficmock.texts.wording import unredacted
from trafficmock.wire.payloads.refused_request import UnmatchedRequest

MOST_ROWS = 1000
"""The most different requests in the list; further ones are only counted."""

LONGEST_METHOD = 1000
"""The most characters of a method in the list; a request with a longer one is only counted."""

RowKey = tuple[str, str, str, str]
"""Kind, method, URL as in messages, client id."""


@define
class UnownedRefusals:
    """The list of refused requests that no test owns.

    :param clients: returns the connected clients.
    :ivar interested: the connections that have requested the list, or begun a strict run.
    :ivar told: the requests of which a worker has told, where no reporter does it for all.
    :ivar dropped: the number of requests that the list had no room for.
    """

    clients: Callable[[], Iterable[Client]]
    rows: dict[RowKey, UnmatchedRequest] = field(factory=dict)
    interested: set[str] = field(factory=set)
    told: set[RowKey] = field(factory=set)
    dropped: int = 0

    def again(self, key: RowKey, at: int) -> str | None:
        """Count a request that is in the list.

        :param at: the time of its refusal, in epoch ms.
        :returns: its message; ``None`` for a request that is not in the list.
        """
        row = self.rows.get(key)
        if row is None:
            return None
        self.rows[key] = structs.replace(row, count=row.count + 1, last_at=at)
        return row.message

    def joins(self, worker_id: str, since: int) -> None:
        """Note that a worker asks for the list; with the first one of a run, the run begins.

        :param since: when its run has begun, in epoch ms.
        """
        if not self.interested:
            for key, row in list(self.rows.items()):
                if row.last_at < since:
                    del self.rows[key]
                elif row.at < since:
                    # How many of them came before is not known; the last one did not.
                    self.rows[key] = structs.replace(row, count=1, at=row.last_at)
        self.interested.add(worker_id)

    def untold(self) -> list[UnmatchedRequest]:
        """Return the requests of which no worker has told yet: this one does."""
        rows = [row for key, row in self.rows.items() if key not in self.told]
        self.told.update(self.rows)
        return rows

    def forgive(self, is_mocked: Callable[[UnmatchedRequest], bool]) -> None:
        """Remove the requests that a route of the run would have had, if it had been there."""
        for key, row in list(self.rows.items()):
            if is_mocked(row):
                del self.rows[key]

    def add(self, row: UnmatchedRequest, agent: Agent) -> None:
        """Add a request that is not in the list.

        Requests of an application that was connected at the end of the last run are only added
        while a worker is connected: a development server sends requests between runs.
        """
        if agent.of_past_run and not any(isinstance(each, Worker) for each in self.clients()):
            return
        if len(self.rows) < MOST_ROWS and len(row.method) <= LONGEST_METHOD:
            self.rows[_key(row)] = row
        else:
            self.dropped += 1

    def left(self, worker: Worker, agents: Iterable[Agent]) -> bool:
        """Handle the end of a worker; without an interested one, the list is cleared.

        :returns: whether the run ended with this worker.
        """
        if worker.id not in self.interested:
            return False
        self.interested.remove(worker.id)
        if not self.interested:
            self.rows.clear()
            self.told.clear()
            self.dropped = 0
            for agent in agents:
                agent.of_past_run = True
        return not self.interested


def _key(row: UnmatchedRequest) -> RowKey:
    return row.kind, row.method, unredacted(row.url), row.client_id
