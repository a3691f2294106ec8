"""The state of connections: unauthenticated connections, agents and workers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.answers.languages import JAVASCRIPT, Language
from trafficmock.core.effects import ConnectedClient, EffectList
from trafficmock.core.local.leases import LocalAgent
from trafficmock.wire.local_reports import LibraryUnhooked
from trafficmock.wire.outbound import FetchDone

if TYPE_CHECKING:
    from trafficmock.core.state.lifecycle import AwaitedReport, PendingRequest, Socket
    from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest

FetchReceiver = Callable[[FetchDone, EffectList], None]


@define(eq=False)
class Unauthenticated:
    """A connection that has not sent ``hello``.

    :param opened_at: monotonic seconds.
    :param kind: the way it is connected, only to be shown.
    """

    id: str
    opened_at: float
    kind: str = "node"


@define(eq=False, kw_only=True)
class Client:
    """The parent of the clients that have sent ``hello``.

    :param kind: the way it is connected: ``node`` for ``/ws``, ``python`` for a preload, ``proxy``
        for other clients of the forward proxy.
    :param features: the features that client and coordinator know.
    :param last_heard: monotonic seconds of its last sign of life.
    :param connected_at: epoch milliseconds of its ``hello``.
    :param pid: the id of its process, if the client sent it; only shown.
    :param command: the command line of its process, if the client sent it; only shown.
    """

    id: str
    client_id: str
    features: frozenset[str]
    last_heard: float
    kind: str = "node"
    connected_at: int
    pid: int | None = None
    command: str | None = None


@define(eq=False, kw_only=True)
class Agent(Client):
    """An agent, with its unsettled requests, fetches, reports and WebSockets.

    :ivar runs_tests: whether its process runs tests, besides the application perhaps.
    :param pending: the paused requests by id.
    :param awaited: the reports that the agent owes, by request id. It is an ``OrderedDict``,
        whose first key is found at once: a dict scans the deleted keys before it.
    :param tails: for the first request of a chain of redirects, the id of its latest hop.
    :param fetches: who gets the answer to a fetch, by request and fetch id.
    :param sockets: the WebSockets by id.
    :param process_mark: names its process for who runs on the same machine; empty if not known.
    :param of_past_run: whether the agent was connected when a strict run ended, see
        :class:`~trafficmock.core.ownership.unowned_refusals.UnownedRefusals`.
    :param local: its filter and lease, with the feature ``local``.
    :ivar unhooked: the libraries that it could not change.
    """

    process_mark: str = ""
    runs_tests: bool = field(init=False, default=False)
    pending: dict[str, PendingRequest] = field(factory=dict)
    awaited: OrderedDict[str, AwaitedReport] = field(factory=OrderedDict)
    tails: dict[str, str] = field(factory=dict, repr=False)
    fetches: dict[tuple[str, str], FetchReceiver] = field(factory=dict, repr=False)
    sockets: dict[str, Socket] = field(factory=dict)
    of_past_run: bool = False
    local: LocalAgent | None = None
    unhooked: list[LibraryUnhooked] = field(init=False, factory=list)


@define(eq=False, kw_only=True)
class Worker(Client):
    """A test worker with its tests.

    :param liveness_id: the connection that answers pings for the worker while its own is not
        read.
    :param redact: the words of ``hello`` for shown URLs.
    :param language: of its tests.
    :param tests: the registered tests by id.
    :param inert: the routes whose test is not registered yet, by id.
    :ivar unhooked_told: of which libraries it was warned: application, name and file.
    """

    worker_id: str | None
    liveness_id: str | None = None
    redact: tuple[str, ...] = ()
    language: Language = JAVASCRIPT
    unhooked_told: set[tuple[str, str, str]] = field(init=False, factory=set)
    tests: dict[str, RegisteredTest] = field(factory=dict)
    inert: dict[str, RegisteredRoute] = field(factory=dict)

    def connection_ids(self) -> list[str]:
        """Return the ids of the connections that answer pings for this worker."""
        return [self.id] if self.liveness_id is None else [self.id, self.liveness_id]


@define(eq=False, kw_only=True)
class Liveness(Client):
    """A second connection of a worker's process: its messages are signs of life of ``worker``."""

    worker: Worker

    def gone(self) -> None:
        """Remove this connection from the worker, unless a later one has replaced it."""
        if self.worker.liveness_id == self.id:
            self.worker.liveness_id = None


@define
class LostAgent:
    """An agent that has disconnected.

    :param unsettled: the number of its requests and WebSockets that have been settled so far.
    """

    agent: Agent
    unsettled: int = 0


def connected(client: Client) -> ConnectedClient:
    """Describe a client, for texts and ``/api/connections``."""
    return ConnectedClient(
        client_id=client.client_id,
        connection_id=client.id,
        connected_at=client.connected_at,
        kind=client.kind if isinstance(client, Agent) else UNSET,
        pid=UNSET if client.pid is None else client.pid,
        command=client.command or UNSET,
    )


Peer = Unauthenticated | Agent | Worker | Liveness
