"""What the coordinator knows, which its rules share."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from attrs import define, field

from trafficmock.core.deadlines import Deadlines
from trafficmock.core.http.awaited_reports import AwaitedReports
from trafficmock.core.owner_timeouts import OwnerTimeouts
from trafficmock.core.ownership.claims import Claims
from trafficmock.core.ownership.contexts import Contexts
from trafficmock.core.ownership.registry import Registry
from trafficmock.core.ownership.strictness import Strictness
from trafficmock.core.planned_steps import PlannedSteps
from trafficmock.core.settings import Settings
from trafficmock.core.state.lifecycle import PendingRequest, Socket
from trafficmock.core.state.peers import Agent, Client, LostAgent, Peer


@define(eq=False)
class SharedState:
    """The tables of the coordinator, and its settings.

    :ivar deadlines: what is done later.
    :ivar peers: all connections by id.
    :ivar lost_agents: the disconnected agents with unsettled requests or WebSockets.
    :ivar registry: the tests and routes.
    :ivar contexts: the tests of contexts.
    :ivar strictness: the strict tests and runs.
    :ivar pending: the requests that are not settled, by id.
    :ivar sockets: the WebSockets that are held or matched, by id.
    :ivar claims: the questions to tests that are not answered.
    :ivar awaited: the requests that were sent upstream, until their reports.
    :ivar owner_timeouts: the owners that have to give a sign of life.
    :ivar planned: the steps of requests that are taken later, such as delayed decisions.
    """

    settings: Settings
    deadlines: Deadlines = field(init=False, factory=Deadlines)
    peers: dict[str, Peer] = field(init=False, factory=dict)
    lost_agents: deque[LostAgent] = field(init=False, factory=deque)
    registry: Registry = field(init=False, factory=Registry)
    contexts: Contexts = field(init=False)
    strictness: Strictness = field(init=False)
    pending: dict[str, PendingRequest] = field(init=False, factory=dict)
    sockets: dict[str, Socket] = field(init=False, factory=dict)
    claims: Claims = field(init=False)
    awaited: AwaitedReports = field(init=False, factory=AwaitedReports)
    owner_timeouts: OwnerTimeouts = field(init=False)
    planned: PlannedSteps = field(init=False)

    def __attrs_post_init__(self) -> None:
        settings, deadlines = self.settings, self.deadlines
        self.contexts, self.claims = Contexts(deadlines), Claims(deadlines)
        self.strictness = Strictness(self.registry, settings.strict, settings.own_hosts)
        self.owner_timeouts = OwnerTimeouts(settings.claim_timeout, deadlines)
        self.planned = PlannedSteps(deadlines)

    def clients(self) -> list[Client]:
        """Return the clients that have sent ``hello``, in the order of their connection."""
        return [peer for peer in self.peers.values() if isinstance(peer, Client)]

    def agents(self) -> Iterator[Agent]:
        """Yield the agents, also disconnected ones with unsettled requests."""
        yield from (peer for peer in self.peers.values() if isinstance(peer, Agent))
        yield from (lost.agent for lost in self.lost_agents)
