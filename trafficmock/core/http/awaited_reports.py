"""Requests on their way upstream: which reports agents owe, and who is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import define, field
from msgspec import Struct

from trafficmock.core.http.observation import (
    may_observe,
)
from trafficmock.core.ownership.registry import with_observer
from trafficmock.records import Owner, ResponseReported
from trafficmock.wire.payloads.serialized_response import SerializedError

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.deferred_bodies import DeferredObservation
    from trafficmock.core.ownership.contexts import ContextTest
    from trafficmock.core.peers import Agent, Worker
    from trafficmock.wire.inbound import RequestBody

MOST_AWAITED = 10_000
"""Reports awaited from one agent; beyond it the oldest is no longer waited for."""

_DROPPED = SerializedError(
    "Error", "Not waited for any longer: too many newer requests are on their way."
)


class AwaitedReport(Struct, eq=False, kw_only=True):
    """A request that is on its way upstream.

    :param owner_id: the connection of an owner that gets the report though it may not observe.
    :param head: the first request of its redirect chain, itself when there is none.
    :param recorded: the history has it; it does not get a hop whose predecessor it does not have.
    :param deferred: what the observers get when the copy of its body is there; ``None`` when
        they got it.
    :param redirected: its redirect was reported and the next hop has not come yet.
    :param begun: the history shows a head whose body is still to come.
    :param unasked: the agent let it pass by itself.
    :param made_for: the test whose context the chain carries, if any.
    """

    request_id: str
    action: Literal["continue", "passthrough"]
    owner: Owner | None
    observers: tuple[str, ...]
    head: str
    recorded: bool = True
    owner_id: str | None = None
    deferred: DeferredObservation | None = None
    redirected: bool = False
    begun: bool = False
    unasked: bool = False
    made_for: ContextTest | None = None

    def send_deferred(
        self, out: EffectList, content: RequestBody | None = None, *, limit: int = 0
    ) -> None:
        """Send its observers what was deferred, if anything was.

        :param content: the copy of its body; without it there will be none.
        :param limit: bytes that are kept of it, 0 for all.
        """
        if self.deferred is not None:
            self.deferred.send(self.request_id, content, self.observers, out, limit=limit)
            self.deferred = None


def tell_of_ends(agent: Agent, worker: Worker, *, unasked: bool = True) -> None:
    """Tell a worker that observes from now on what becomes of requests on their way upstream.

    :param unasked: those that the agent let pass by itself are meant too.
    """
    for report in agent.awaited.values():
        if worker.id in report.observers or not may_observe(worker, report.made_for):
            continue
        if not report.unasked:
            report.observers = with_observer(report.observers, worker.id)
        elif unasked:
            report.observers = with_observer(report.observers, worker.id)
            if report.deferred is not None:
                report.deferred = report.deferred.without(worker.id)


@define
class AwaitedReports:
    """The reports that agents owe; while one is owed its request id is in use."""

    holders: dict[str, Agent] = field(factory=dict)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self.holders

    def add(self, agent: Agent, report: AwaitedReport, out: EffectList) -> None:
        """Expect the agent to report on a request that it sends upstream."""
        self.holders[report.request_id] = agent
        agent.awaited[report.request_id] = report
        if len(agent.awaited) > MOST_AWAITED:
            oldest = next(iter(agent.awaited.values()))
            oldest.send_deferred(out)
            if oldest.begun:
                # What the history shows as on its way would else stay so for good.
                out.record(ResponseReported(oldest.request_id, None, _DROPPED))
            self.free(agent, oldest)

    def followed(self, agent: Agent, request_id: str) -> None:
        """Wait no longer for the next hop of a redirect: it came as a request of its own."""
        report = agent.awaited.get(request_id)
        if report is not None and report.redirected:
            self.free(agent, report)

    def free(self, agent: Agent, report: AwaitedReport) -> None:
        del self.holders[report.request_id]
        del agent.awaited[report.request_id]
        agent.tails.pop(report.head, None)
