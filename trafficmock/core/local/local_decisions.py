"""Keeps the filters of agents, and holds answers until these are in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.local.filter_entries import ALL, FilterEntries, entries_of
from trafficmock.core.local.leases import (
    LEASE_SECONDS,
    REPORT_SECONDS,
    Hold,
    Holds,
    LocalAgent,
)
from trafficmock.core.ownership.registry import compile_route
from trafficmock.wire.agent_filter import FilterAdd, FilterDrop, FilterEntry, FilterSet, Sync
from trafficmock.wire.limits import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trafficmock.core.effects import EffectList
    from trafficmock.core.ownership.contexts import Contexts
    from trafficmock.core.ownership.registry import RegisteredRoute, Registry
    from trafficmock.core.ownership.strictness import Strictness
    from trafficmock.core.peers import Agent, Worker
    from trafficmock.core.settings import Settings
    from trafficmock.core.timers import Alarm
    from trafficmock.wire.agent_filter import Reports
    from trafficmock.wire.inbound import Message
    from trafficmock.wire.local_reports import FilterAck, Synced

MOST_IN_MESSAGE = 1000
"""Entries in one message, so that none is too long to be sent: an agent whose answer to a later
one counts for all before it would else lack them."""


@define
class LocalDecisions:
    """Tells agents what to ask about.

    Nothing here costs anything while no agent has the feature.

    :ivar n: numbers the messages that agents answer.
    :ivar agents: those with the feature, by connection.
    :ivar lost: those whose connection was lost while they had a lease: they may not know it yet.
        An empty id stands for all agents of an earlier process on the same port.
    :ivar observed_since: for each worker that observes traffic, what an agent must have acted on
        before it decided what that worker is told of.
    """

    settings: Settings
    registry: Registry
    strictness: Strictness
    contexts: Contexts
    alarm: Alarm
    n: int = 0
    entries: FilterEntries = field(factory=FilterEntries)
    agents: dict[str, LocalAgent] = field(factory=dict)
    lost: list[LocalAgent] = field(factory=list)
    holds: Holds = field(factory=Holds)
    reports: Reports = "none"
    observed_since: dict[str, int] = field(factory=dict)

    @property
    def is_on(self) -> bool:
        """Whether agents with the feature may decide."""
        return self.settings.decides_locally

    @property
    def is_idle(self) -> bool:
        """Whether no agent decides anything."""
        return not self.agents and not self.lost

    def heed_predecessor(self, now: float) -> None:
        """Wait for the leases that an earlier process on the same port may have given to agents.

        An agent may not have noticed yet that the earlier process ended.
        """
        if self.is_on:
            self.lost.append(LocalAgent("", now + LEASE_SECONDS))

    # Agents

    def joined(self, agent: Agent, out: EffectList) -> None:
        """Give a new agent its filter; until it has that it asks about everything."""
        if not self.agents:
            missing = self.entries.missing(self._needed())
            self.entries.add(missing, self.n, out.now.seconds)
            self.observed_since = dict.fromkeys(self.registry.observers, self.n)
            self.reports = self._wanted_reports()
            self._need_alarm(out)
        agent.local = self.agents[agent.id] = LocalAgent(agent.id)
        most = min(self.settings.frame_bytes or MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES)
        out.send(agent.id, FilterSet(self.n, list(self.entries.held), self.reports, most))

    def left(self, agent: Agent, out: EffectList, *, clean: bool) -> None:
        """Note that a connection ended.

        :param clean: the agent closed it, so that it knows.
        """
        local = self.agents.pop(agent.id, None)
        if local is None:
            return
        if clean:
            self._release(self.holds.forget(local), out)
        elif local.may_until > out.now.seconds:
            self.lost.append(local)
            self.alarm.need(local.may_until, out)
        self._forget_when_idle()

    def worker_left(self, worker: Worker) -> None:
        """Give a worker that is gone no answers."""
        if self.holds.waiting:
            self.holds.worker_left(worker.id)

    def acted(self, agent: Agent, message: FilterAck | Synced, out: EffectList) -> None:
        """Note that an agent has acted on a message, and on all before it."""
        local = agent.local
        if local is None or message.n > self.n:
            out.note("warn", f"{agent.client_id} acknowledges what it was not sent")
        elif message.n > local.acted_on:
            self._release(self.holds.acted_on(local, message.n), out)

    # Changes

    def when_in_force(
        self,
        worker: Worker,
        routes: Iterable[RegisteredRoute],
        out: EffectList,
        release: Callable[[EffectList], None],
    ) -> None:
        """Call ``release`` when every agent knows what was changed.

        :param worker: that waits; when it is gone meanwhile, ``release`` is not called.
        :param routes: that were registered. What strict mode, and who observes, need besides is
            looked up.
        """
        if self.is_idle:
            release(out)
            return
        wanted = [*self._of_routes(routes), *self._of_strict()]
        missing = self.entries.missing(wanted)
        if missing:
            self._add(missing, out)
        n = max(self.entries.newest(wanted), self.observers_changed(out))
        self._sweep(out)
        self._hold(worker, n, out, release, (*self.agents.values(), *self.lost))

    def observers_changed(self, out: EffectList) -> int:
        """Tell agents which reports are wanted, now that the observers have changed.

        :returns: the number by whose acknowledgement an agent reports to all who observe.
        """
        if self.is_idle:
            return -1
        observers, reports = self.registry.observers, self._wanted_reports()
        since = self.observed_since
        if reports != self.reports or any(each not in since for each in observers):
            self.reports = reports
            self._sync(out)
        self.observed_since = {each: since.get(each, self.n) for each in observers}
        return max(self.observed_since.values(), default=-1)

    def told_by(self, agent: Agent, observers: tuple[str, ...]) -> tuple[str, ...]:
        """Pick those who observed already when an agent did what it reports now."""
        local = agent.local
        if local is None:
            return observers
        since, n = self.observed_since, local.acted_on
        return tuple([each for each in observers if since.get(each, n) <= n])

    def when_reported(
        self, worker: Worker, out: EffectList, release: Callable[[EffectList], None]
    ) -> None:
        """Call ``release`` when every agent has reported what it decided until now.

        :param worker: as of :meth:`when_in_force`.
        """
        if self.is_idle or self.reports == "none":
            release(out)
            return
        self._sync(out)
        # Those that are gone report nothing any more.
        self._hold(worker, self.n, out, release, self.agents.values(), longer=REPORT_SECONDS)

    def _add(self, missing: list[FilterEntry], out: EffectList) -> None:
        for begin in range(0, len(missing), MOST_IN_MESSAGE):
            some = missing[begin : begin + MOST_IN_MESSAGE]
            self.n += 1
            self.entries.add(some, self.n, out.now.seconds)
            self._send(FilterAdd(self.n, some), out)

    def _sync(self, out: EffectList) -> None:
        self.n += 1
        self._send(Sync(self.n, self.reports), out)

    def _send(self, message: Message, out: EffectList) -> None:
        if self.agents:
            out.send_all(tuple(self.agents), message)

    def _hold(
        self,
        worker: Worker,
        n: int,
        out: EffectList,
        release: Callable[[EffectList], None],
        agents: Iterable[LocalAgent],
        *,
        longer: float = 0.0,
    ) -> None:
        """Wait for those agents that may decide and have not acted on message ``n``.

        What they are sent from now on they get behind that message, so that no later lease
        makes the wait longer.
        """
        now = out.now.seconds
        until = {
            each.id: each.may_until + longer
            for each in agents
            if each.acted_on < n and each.may_until + longer > now
        }
        if not until:
            release(out)
            return
        self.holds.add(Hold(worker.id, n, until, release))
        self.alarm.need(max(until.values()), out)

    def _release(self, ended: list[Hold], out: EffectList) -> None:
        for hold in ended:
            hold.release(out)

    # Time

    def tick(self, out: EffectList) -> None:
        """Give the answers that wait for nobody any more, and drop entries that are not needed."""
        now = out.now.seconds
        if self.lost:
            self.lost = [each for each in self.lost if each.may_until > now]
        if self.holds.waiting:
            self._release(self.holds.overdue(now), out)
        self._sweep(out)
        self._forget_when_idle()

    def _forget_when_idle(self) -> None:
        if self.is_idle:
            self.entries, self.observed_since = FilterEntries(), {}

    def next_deadline(self) -> float | None:
        """Tell when there is something to do."""
        if self.is_idle and not self.holds.waiting:
            return None
        due = [self.holds.next_deadline(), self.entries.next_deadline()]
        due += [each.may_until for each in self.lost]
        return min((at for at in due if at is not None), default=None)

    def _need_alarm(self, out: EffectList) -> None:
        at = self.entries.next_deadline()
        if at is not None:
            self.alarm.need(at, out)

    def _sweep(self, out: EffectList) -> None:
        if self.is_idle or not self.entries.is_sweep_due(out.now.seconds):
            return
        gone = self.entries.sweep(set(self._needed()), out.now.seconds)
        if gone:
            self._send(FilterDrop(gone), out)
        self._need_alarm(out)

    # What is needed

    def _needed(self) -> list[FilterEntry]:
        conditions = self.registry.conditions("http")
        late = [FilterEntry(context=each) for each in self.contexts.late_strict()]
        return [each for one in conditions for each in entries_of(one)] + self._of_strict() + late

    @staticmethod
    def _of_routes(routes: Iterable[RegisteredRoute]) -> list[FilterEntry]:
        return [
            each
            for route in routes
            if route.kind == "http"
            for each in entries_of(compile_route(route.matcher).condition)
        ]

    def _of_strict(self) -> list[FilterEntry]:
        """List what strict mode must be asked about: it refuses requests that no route wants."""
        strictness = self.strictness
        if strictness.service is not None or strictness.runs:
            return [ALL]
        contexts = [self.registry.tests[test_id].context for test_id in strictness.tests]
        return [ALL if each is None else FilterEntry(context=each) for each in contexts]

    def _wanted_reports(self) -> Reports:
        if self.registry.observers:
            return "now"
        return "batch" if self.settings.records_passed else "none"
