"""The reports that agents owe about requests that were sent upstream, and their observers."""

from __future__ import annotations

from attrs import define, evolve, field

from trafficmock.core.effects import EffectList
from trafficmock.core.http.deferred_bodies import send_deferred_report
from trafficmock.core.http.observation import may_observe
from trafficmock.core.ownership.registry import with_observer
from trafficmock.core.state.lifecycle import AwaitedReport
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.records import ResponseReported
from trafficmock.wire.payloads.serialized_response import SerializedError

MOST_AWAITED = 10_000
"""The most reports awaited from one agent; above it, the oldest is no longer awaited."""

_DROPPED = SerializedError(
    "Error", "Not waited for any longer: too many newer requests are on their way."
)


def tell_of_ends(agent: Agent, worker: Worker, *, unasked: bool = True) -> None:
    """Add a worker that begins to observe to the observers of the agent's awaited reports.

    :param unasked: whether to include requests that the agent let pass without asking.
    """
    for report in agent.awaited.values():
        if worker.id in report.observers or not may_observe(worker, report.context_test):
            continue
        if not report.unasked:
            report.observers = with_observer(report.observers, worker.id)
        elif unasked:
            report.observers = with_observer(report.observers, worker.id)
            if report.deferred is not None:
                report.deferred = evolve(
                    report.deferred, not_for=report.deferred.not_for | {worker.id}
                )


@define
class AwaitedReports:
    """The reports that agents owe. Until a report comes, its request id is in use.

    :ivar holders: the agent that owes a report, by request id.
    """

    holders: dict[str, Agent] = field(factory=dict)

    def add(self, agent: Agent, report: AwaitedReport, out: EffectList) -> None:
        """Await the report about a request that the agent sends upstream."""
        self.holders[report.request_id] = agent
        agent.awaited[report.request_id] = report
        if len(agent.awaited) > MOST_AWAITED:
            oldest = next(iter(agent.awaited.values()))
            send_deferred_report(oldest, out)
            if oldest.begun:
                # Without this, the body would stay pending in the history for ever.
                out.record(ResponseReported(oldest.request_id, None, _DROPPED))
            self.free(agent, oldest)

    def followed(self, agent: Agent, request_id: str) -> None:
        """Stop awaiting the next hop of a redirect: it came as a ``request:start``."""
        report = agent.awaited.get(request_id)
        if report is not None and report.redirected:
            self.free(agent, report)

    def free(self, agent: Agent, report: AwaitedReport) -> None:
        del self.holders[report.request_id]
        del agent.awaited[report.request_id]
        agent.tails.pop(report.head, None)
