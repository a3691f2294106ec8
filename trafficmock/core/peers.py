"""The connections as the core sees them: unauthenticated connections, agents and workers."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import UNSET

from trafficmock.wire.outbound import ConnectedClient

if TYPE_CHECKING:
    from trafficmock.core.http.awaited_reports import AwaitedReport
    from trafficmock.core.lifecycle import PendingRequest, Socket
    from trafficmock.core.local.leases import LocalAgent
    from trafficmock.core.ownership.registry import RegisteredRoute, RegisteredTest


@define(eq=False)
class Unauthenticated:
    """A connection that has not sent ``hello``; its other messages are ignored.

    :param kind: the way it is connected; only shown.
    """

    id: str
    opened_at: float
    kind: str = "node"


@define(eq=False, kw_only=True)
class Client:
    """The parent of the clients that have sent ``hello``.

    :param kind: the way it is connected (``node`` for ``/ws``).
    :param last_heard: monotonic seconds of its last sign of life.
    :param connected_at: epoch milliseconds of its ``hello``.
    :param pid: its process, if it named that; only shown.
    :param command: the command line of its process, if it named that; only shown.
    """

    id: str
    client_id: str
    features: frozenset[str]
    last_heard: float
    kind: str = "node"
    connected_at: int
    pid: int | None = None
    command: str | None = None

    def heard(self, seconds: float) -> None:
        """Take note of a sign of life, at this monotonic time."""
        self.last_heard = seconds


@define(eq=False, kw_only=True)
class Agent(Client):
    """An application's side, with everything of it that is still open.

    ``awaited`` is ordered so that its oldest is at hand: a dict would look for it among all
    that were deleted before it.
    ``fetches`` says which worker waits for a fetch, by request and fetch id.
    ``of_past_run`` says that it was there when a run ended, see
    :class:`~trafficmock.core.ownership.unowned_refusals.UnownedRefusals`.
    ``local`` stands for it among those that decide by themselves (feature ``local``).
    ``tails`` names, for the first request of a redirect chain, its newest hop.
    """

    pending: dict[str, PendingRequest] = field(factory=dict)
    awaited: OrderedDict[str, AwaitedReport] = field(factory=OrderedDict)
    tails: dict[str, str] = field(factory=dict)
    fetches: dict[tuple[str, str], str] = field(factory=dict)
    sockets: dict[str, Socket] = field(factory=dict)
    of_past_run: bool = False
    local: LocalAgent | None = None


@define(eq=False, kw_only=True)
class Worker(Client):
    """A test worker with its tests; ``inert`` routes wait for their test to register.

    ``liveness_id`` is the connection that answers pings in its place while it is not read.
    """

    worker_id: str | None
    liveness_id: str | None = None
    tests: dict[str, RegisteredTest] = field(factory=dict)
    inert: dict[str, RegisteredRoute] = field(factory=dict)

    def connection_ids(self) -> list[str]:
        """List its connections that answer pings."""
        return [self.id] if self.liveness_id is None else [self.id, self.liveness_id]


@define(eq=False, kw_only=True)
class Liveness(Client):
    """A second connection of a worker's process: what it says is a sign of life of ``worker``."""

    worker: Worker

    def heard(self, seconds: float) -> None:
        self.last_heard = self.worker.last_heard = seconds

    def gone(self) -> None:
        """Leave the worker to itself, unless another connection has taken this one's place."""
        if self.worker.liveness_id == self.id:
            self.worker.liveness_id = None


def connected(client: Client) -> ConnectedClient:
    """Describe a client for people."""
    return ConnectedClient(
        client_id=client.client_id,
        connection_id=client.id,
        connected_at=client.connected_at,
        kind=client.kind if isinstance(client, Agent) else UNSET,
        pid=UNSET if client.pid is None else client.pid,
        command=client.command or UNSET,
    )


Peer = Unauthenticated | Agent | Worker | Liveness
