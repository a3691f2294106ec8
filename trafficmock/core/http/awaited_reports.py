"""The reports that agents owe about requests that were sent upstream, and their observers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import define, field
from msgspec import Struct

from trafficmock.core.http.observation import may_observe
from trafficmock.core.ownership.registry import with_observer
from trafficmock.records import Owner, ResponseReported
from trafficmock.wire.payloads.serialized_response import SerializedError

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.deferred_bodies import DeferredObservation
    from trafficmock.core.ownership.contexts import ContextTest
    from trafficmock.core.state.peers import Agent, Worker
    from trafficmock.wire.inbound import RequestBody

MOST_AWAITED = 10_000
"""The most reports awaited from one agent; above it, the oldest is no longer awaited."""

_DROPPED = SerializedError(
    "Error", "Not waited for any longer: too many newer requests are on their way."
)


class AwaitedReport(Struct, eq=False, kw_only=True):
    """The report about a request that was sent upstream.

    :param observers: the connections that get the report.
    :param owner_id: the connection of an owner that gets the report although it does not observe.
    :param head: the id of the first request of the chain of redirects; without redirects that of
        the request itself.
    :param recorded: whether the history has the request; it does not get a hop after one that it
        does not have.
    :param deferred: the observation that waits for the body; ``None`` after it was sent.
    :param redirected: whether a redirect was reported and the next hop has not come yet.
    :param begun: whether the history has the head of the response and waits for the body.
    :param unasked: whether the agent let the request pass without asking.
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
        """Send the deferred observation to the observers, if there is one.

        :param content: the body; ``None`` if it will never arrive.
        :param limit: the most bytes of the body, 0 for all.
        """
        if self.deferred is not None:
            self.deferred.send(self.request_id, content, self.observers, out, limit=limit)
            self.deferred = None


def tell_of_ends(agent: Agent, worker: Worker, *, unasked: bool = True) -> None:
    """Add a worker that begins to observe to the observers of the agent's awaited reports.

    :param unasked: whether to include requests that the agent let pass without asking.
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
    """The reports that agents owe. Until a report comes, its request id is in use.

    :ivar holders: the agent that owes a report, by request id.
    """

    holders: dict[str, Agent] = field(factory=dict)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self.holders

    def add(self, agent: Agent, report: AwaitedReport, out: EffectList) -> None:
        """Await the report about a request that the agent sends upstream."""
        self.holders[report.request_id] = agent
        agent.awaited[report.request_id] = report
        if len(agent.awaited) > MOST_AWAITED:
            oldest = next(iter(agent.awaited.values()))
            oldest.send_deferred(out)
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
