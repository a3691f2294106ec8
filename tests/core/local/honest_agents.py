"""Agents that decide by themselves as they should, however late they act on what they are sent.

They hold the promise against the coordinator: once a route is acknowledged, no agent that still
has a lease may have a filter without it.
"""

from collections import Counter, deque

from attrs import define, field

from trafficmock.core.coordinator import Coordinator
from trafficmock.core.effects import CloseConnection, Effects, OpenBrowserProxy, Send
from trafficmock.core.local.filter_entries import ALL, entries_of
from trafficmock.core.local.leases import LEASE_SECONDS
from trafficmock.core.ownership.registry import compile_route
from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest
from trafficmock.wire import agent_filter, inbound, local_reports, outbound
from trafficmock.wire.agent_filter import FilterEntry
from trafficmock.wire.features import LOCAL
from trafficmock.wire.inbound import Message

Inbox = (
    agent_filter.FilterSet
    | agent_filter.FilterAdd
    | agent_filter.FilterDrop
    | agent_filter.Sync
    | outbound.DecisionPassthrough
)


@define(eq=False)
class HonestAgent:
    """An agent with what it has not acted on yet, and answers that have not arrived.

    :param entries: its filter; ``None`` until it has one.
    :param until: when its lease is over.
    :param asked: when its questions were handled, by their ids.
    """

    entries: set[FilterEntry] | None = None
    until: float = 0.0
    asked: dict[str, float] = field(factory=dict)
    inbox: deque[Message] = field(factory=deque)
    outbox: deque[Message] = field(factory=deque)

    def act(self) -> None:
        """Act on the oldest message."""
        message = self.inbox.popleft()
        if isinstance(message, outbound.DecisionPassthrough):
            asked = self.asked.pop(message.request_id, None)
            if asked is not None:
                self.until = max(self.until, asked + LEASE_SECONDS)
        elif isinstance(message, agent_filter.Sync):
            self.outbox.append(local_reports.Synced(message.n))
        elif isinstance(message, agent_filter.FilterDrop):
            self.entries = (self.entries or set()) - set(message.entries)
        elif isinstance(message, agent_filter.FilterSet | agent_filter.FilterAdd):
            is_new = isinstance(message, agent_filter.FilterSet)
            self.entries = (set() if is_new else self.entries or set()) | set(message.entries)
            self.outbox.append(local_reports.FilterAck(message.n))

    def passes_by(self, wanted: set[FilterEntry], now: float) -> bool:
        """Tell whether it would let a request pass that a route with these entries wants."""
        if self.entries is None or ALL in self.entries or self.until <= now:
            return False
        return not wanted <= self.entries


@define
class HonestAgents:
    """All of them, and what was acknowledged.

    :param open: registrations that are not answered, by id.
    """

    coordinator: Coordinator
    agents: dict[str, HonestAgent] = field(factory=dict)
    routes: list[RegisteredRoute] = field(factory=list)
    tests: list[RegisteredTest] = field(factory=list)
    open: Counter[tuple[str, str]] = field(factory=Counter)

    def watch(self, effects: Effects, sender: str | None, cause: object, now: float) -> None:
        """Note what an event led to, and check the promise."""
        agent = self.agents.get(sender or "")
        if agent is not None and isinstance(cause, inbound.RequestStart):
            agent.asked.setdefault(cause.request_id, now)
        registers = _registered_by(cause)
        if registers is not None:
            self.open[registers] += 1
        for effect in effects:
            if isinstance(effect, OpenBrowserProxy):
                self._answered(("test", effect.registered.test_id))
            elif isinstance(effect, CloseConnection):
                self.lost(effect.connection_id)
            elif isinstance(effect, Send):
                if isinstance(effect.message, outbound.ProxyError) and registers is not None:
                    self.open[registers] -= 1
                self._sent(effect)
        self._check(now)

    def _sent(self, send: Send) -> None:
        message = send.message
        if isinstance(message, outbound.HelloOk) and LOCAL in (message.features or ()):
            self.agents[send.to[0]] = HonestAgent()
        elif isinstance(message, outbound.RouteRegistered):
            self._answered(("route", message.route_id))
        elif isinstance(message, outbound.TestRegistered):
            self._answered(("test", message.test_id))
        elif isinstance(message, Inbox):
            for each in send.to:
                if each in self.agents:
                    self.agents[each].inbox.append(message)

    def _answered(self, registers: tuple[str, str]) -> None:
        """Count what is registered by now, unless the id is registered once more."""
        self.open[registers] -= 1
        if self.open[registers]:
            return
        kind, id_ = registers
        registry = self.coordinator.state.registry
        if kind == "route" and id_ in registry.routes:
            self.routes.append(registry.routes[id_])
        elif kind == "test" and id_ in registry.tests:
            self.tests.append(registry.tests[id_])

    def _check(self, now: float) -> None:
        registry = self.coordinator.state.registry
        self.routes = [each for each in self.routes if registry.routes.get(each.id) is each]
        self.tests = [each for each in self.tests if registry.tests.get(each.id) is each]
        for route in self.routes:
            if route.kind == "http" and any(test is route.test for test in self.tests):
                wanted = set(entries_of(compile_route(route.matcher).condition))
                for name, agent in self.agents.items():
                    assert not agent.passes_by(wanted, now), f"{name} passes {route.id} by"

    def lost(self, connection_id: str, *, clean: bool = False) -> None:
        """Lose a connection, which the agent need not notice before its lease is over."""
        agent = self.agents.pop(connection_id, None)
        if agent is not None and not clean:
            agent.inbox.clear()
            agent.outbox.clear()
            self.agents[f"lost {len(self.agents)} {connection_id}"] = agent

    def lies(self, connection_id: str, message: Message) -> None:
        """Count an agent no more that acknowledges what it has not acted on."""
        if isinstance(message, local_reports.FilterAck | local_reports.Synced):
            self.agents.pop(connection_id, None)


def _registered_by(cause: object) -> tuple[str, str] | None:
    if isinstance(cause, inbound.RouteRegister):
        return "route", cause.route_id
    if isinstance(cause, inbound.TestRegister):
        return "test", cause.test_id
    return None
