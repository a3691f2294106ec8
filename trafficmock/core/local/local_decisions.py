"""Sends agents their filter, and holds answers to workers until agents have acknowledged it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import EffectList
from trafficmock.core.local.filter_entries import ALL, FilterEntries, entries_of
from trafficmock.core.local.leases import (
    LEASE_SECONDS,
    REPORT_SECONDS,
    LocalAgent,
    WaitingAnswer,
    WaitingAnswers,
)
from trafficmock.core.ownership.registry import compile_route
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.core.state.registered import RegisteredRoute
from trafficmock.matching.patterns.unix_sockets import is_unix_socket
from trafficmock.wire.agent_filter import (
    FilterAdd,
    FilterDrop,
    FilterEntry,
    FilterSet,
    Reports,
    Sync,
)
from trafficmock.wire.inbound import Message
from trafficmock.wire.local_reports import FilterAck, Synced

MOST_IN_MESSAGE = 1000
"""The most entries of one message. A message that is too long would not be sent, and the agent's
acknowledgement of a later message would count for it too."""


@define
class LocalDecisions:
    """The filters of agents with the feature ``local``.

    While no such agent is connected, the methods do nothing and answers are sent at once.

    :ivar n: the number of the latest message that agents acknowledge.
    :ivar agents: the agents with the feature, by connection.
    :ivar lost: the agents whose connection was lost while they had a lease, since they may not
        have noticed yet. An empty id stands for all agents of an earlier process on the same port.
    :ivar reports: how agents report the requests that they let pass.
    :ivar observed_since: for each observer the number of a message: the observer gets the requests
        that an agent let pass after it handled this message.
    """

    state: SharedState
    n: int = 0
    entries: FilterEntries = field(factory=FilterEntries)
    agents: dict[str, LocalAgent] = field(factory=dict)
    lost: list[LocalAgent] = field(factory=list)
    answers: WaitingAnswers = field(factory=WaitingAnswers)
    reports: Reports = "none"
    observed_since: dict[str, int] = field(factory=dict)
    _sent_at: dict[int, float] = field(init=False, factory=dict)
    """When the messages of the last :data:`LEASE_SECONDS` were sent, in monotonic seconds."""
    _next_sweep: Deadline | None = field(init=False, default=None)

    @property
    def is_on(self) -> bool:
        """Whether agents with the feature may let requests pass."""
        return self.state.settings.decides_locally

    @property
    def is_idle(self) -> bool:
        """Whether no agent has a filter or a lease."""
        return not self.agents and not self.lost

    def await_older_leases(self, out: EffectList) -> None:
        """Wait for the leases that agents may have from an earlier process on the same port.

        An agent may not have noticed yet that the earlier process ended.
        """
        if self.is_on:
            self._await_lease(LocalAgent("", out.now.seconds + LEASE_SECONDS), out)

    # Agents

    def joined(self, agent: Agent, out: EffectList) -> None:
        """Send a new agent its filter; until then the agent asks about everything."""
        if not self.agents:
            missing = self.entries.missing(self._needed())
            self.entries.add(missing, self.n, out.now.seconds)
            self.observed_since = dict.fromkeys(self.state.registry.observers, self.n)
            self.reports = self._wanted_reports()
            self._plan_sweep(out)
        agent.local = self.agents[agent.id] = LocalAgent(agent.id)
        sent, most = list(self.entries.sent), self.state.settings.message_bytes
        out.send(agent.id, FilterSet(self.n, sent, self.reports, most))

    def left(self, agent: Agent, out: EffectList, *, clean: bool) -> None:
        """Handle the end of an agent's connection.

        :param clean: whether the agent closed the connection: then it has no lease.
        """
        local = self.agents.pop(agent.id, None)
        if local is None:
            return
        if clean:
            self._release(self.answers.forget(local), out)
        elif local.may_until > out.now.seconds:
            self._await_lease(local, out)
        self._forget_when_idle()

    def _await_lease(self, lost: LocalAgent, out: EffectList) -> None:
        self.lost.append(lost)
        self.state.deadlines.add(lost.may_until, partial(self._lease_over, lost), out)

    def _lease_over(self, lost: LocalAgent, _: EffectList) -> None:
        self.lost.remove(lost)
        self._forget_when_idle()

    def worker_left(self, worker: Worker) -> None:
        """Drop the answers to a worker that has disconnected."""
        if self.answers.waiting:
            self.answers.worker_left(worker.id)

    def acknowledged(self, agent: Agent, message: FilterAck | Synced, out: EffectList) -> None:
        """Handle an acknowledgement, which counts for all earlier messages too."""
        local = agent.local
        if local is None or message.n > self.n:
            out.note("warn", f"{agent.client_id} acknowledges what it was not sent")
        elif message.n > local.acknowledged:
            self._release(self.answers.acknowledged(local, message.n), out)

    # Changes

    def when_applied(
        self,
        worker: Worker,
        routes: Iterable[RegisteredRoute],
        out: EffectList,
        release: Callable[[EffectList], None],
    ) -> None:
        """Send a change to agents, and call ``release`` when each of them has acknowledged it.

        The change may be new routes, strict mode or observers.

        :param worker: the worker that waits; if it disconnects meanwhile, ``release`` is not
            called.
        :param routes: the new routes.
        :param release: sends the answer to the worker.
        """
        if self.is_idle:
            release(out)
            return
        # The worker waits for its answer, which is sent first if it need not be held.
        changes = EffectList(out.now)
        wanted = [*self._of_routes(routes), *self._of_strict()]
        missing = self.entries.missing(wanted)
        if missing:
            self._add(missing, changes)
        n = max(self.entries.newest(wanted), self.observers_changed(changes))
        # For requests over UNIX sockets the filter of an agent counts alone, without its lease.
        awaited = self.agents.values() if any(map(_names_unix_sockets, wanted)) else ()
        self._hold(worker, n, out, release, (*self.agents.values(), *self.lost), awaited=awaited)
        out += changes
        self._sweep(out)

    def observers_changed(self, out: EffectList) -> int:
        """Send agents ``sync`` if the observers have changed.

        :returns: the number of the message after which an agent's reports reach all observers; -1
            for none.
        """
        if self.is_idle:
            return -1
        observers, reports = self.state.registry.observers, self._wanted_reports()
        since = self.observed_since
        if reports != self.reports or any(each not in since for each in observers):
            self.reports = reports
            self._sync(out)
        self.observed_since = {each: since.get(each, self.n) for each in observers}
        return max(self.observed_since.values(), default=-1)

    def observers_before(self, agent: Agent, observers: tuple[str, ...]) -> tuple[str, ...]:
        """Return the observers that had subscribed before an agent let a request pass."""
        local = agent.local
        if local is None:
            return observers
        since, n = self.observed_since, local.acknowledged
        return tuple([each for each in observers if since.get(each, n) <= n])

    def when_reported(
        self, worker: Worker, out: EffectList, release: Callable[[EffectList], None]
    ) -> None:
        """Call ``release`` when each agent has reported the requests that it let pass until now.

        :param worker: as in :meth:`when_applied`.
        :param release: sends the answer to the worker.
        """
        if self.reports == "none":
            release(out)
            return
        self._sync(out)
        # Agents whose connection was lost report nothing.
        self._hold(worker, self.n, out, release, self.agents.values(), longer=REPORT_SECONDS)

    def when_heard(
        self,
        worker: Worker,
        agents: Collection[str],
        out: EffectList,
        release: Callable[[EffectList], None],
    ) -> None:
        """Call ``release`` when agents have sent what they know now, or a lease's time later.

        :param worker: as in :meth:`when_applied`.
        :param agents: the ids of their connections; agents without the feature are not waited for.
        """
        awaited = [each for each in self.agents.values() if each.id in agents]
        if awaited:
            self._sync(out)
        self._hold(worker, self.n, out, release, awaited, awaited=awaited)

    def _add(self, missing: list[FilterEntry], out: EffectList) -> None:
        for begin in range(0, len(missing), MOST_IN_MESSAGE):
            some = missing[begin : begin + MOST_IN_MESSAGE]
            self._next_number(out)
            self.entries.add(some, self.n, out.now.seconds)
            self._send(FilterAdd(self.n, some), out)
        self._plan_sweep(out)

    def _next_number(self, out: EffectList) -> None:
        now = out.now.seconds
        self.n += 1
        for n in [n for n, at in self._sent_at.items() if at + LEASE_SECONDS <= now]:
            del self._sent_at[n]
        self._sent_at[self.n] = now

    def _sync(self, out: EffectList) -> None:
        self._next_number(out)
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
        awaited: Collection[LocalAgent] = (),
    ) -> None:
        """Call ``release`` when agents with a lease have acknowledged message ``n``.

        A later lease does not extend the wait, not even of an agent that acknowledges nothing: an
        agent gets the answer that renews its lease after message ``n``.

        :param longer: seconds after the end of a lease for which to wait.
        :param awaited: the agents to wait for as if each had got a lease now.
        """
        now = out.now.seconds
        latest = self._sent_at.get(n, now - LEASE_SECONDS) + LEASE_SECONDS
        until = {
            each.id: at
            for each in agents
            if each.acknowledged < n
            and (at := (latest if each in awaited else min(each.may_until, latest)) + longer) > now
        }
        if not until:
            release(out)
            return
        answer = WaitingAnswer(worker.id, n, until, release)
        self.answers.add(answer)
        answer.overdue = self.state.deadlines.add(max(until.values()), self._overdue, out)

    def _release(self, ended: list[WaitingAnswer], out: EffectList) -> None:
        for answer in ended:
            self.state.deadlines.cancel(answer.overdue)
            answer.release(out)

    def _overdue(self, out: EffectList) -> None:
        """Send the answers whose wait is over."""
        self._release(self.answers.overdue(out.now.seconds), out)

    def _forget_when_idle(self) -> None:
        if self.is_idle:
            self.entries, self.observed_since, self._sent_at = FilterEntries(), {}, {}

    def _plan_sweep(self, out: EffectList) -> None:
        self.state.deadlines.cancel(self._next_sweep)
        if self.entries.sent:
            self._next_sweep = self.state.deadlines.add(self.entries.sweep_at, self._sweep, out)

    def _sweep(self, out: EffectList) -> None:
        if self.is_idle or not self.entries.is_sweep_due(out.now.seconds):
            return
        gone = self.entries.sweep(set(self._needed()), out.now.seconds)
        if gone:
            self._send(FilterDrop(gone), out)
        self._plan_sweep(out)

    # Needed entries

    def _needed(self) -> list[FilterEntry]:
        conditions = self.state.registry.conditions("http")
        late = [FilterEntry(context=each) for each in self.state.contexts.late_strict()]
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
        """Return the entries of strict mode, which also decides about requests without a route."""
        strictness = self.state.strictness
        is_strict = strictness.service is not None or strictness.runs or strictness.tests
        # A strict test judges what carries no context, too, as soon as no other test runs.
        return [ALL] if is_strict else []

    def _wanted_reports(self) -> Reports:
        if self.state.registry.observers:
            return "now"
        return "batch" if self.state.settings.records_passed else "none"


def _names_unix_sockets(entry: FilterEntry) -> bool:
    return entry.texts is not UNSET and is_unix_socket(entry.texts[0])
