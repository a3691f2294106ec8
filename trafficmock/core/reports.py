"""After passthrough and continue: who still owes a report, and how hops hang together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.effects import Effects, Note, Send
from trafficmock.core.records import HopSeen, Owner, ResponseReported
from trafficmock.wire.inbound import RequestObserve, RequestResponse
from trafficmock.wire.outbound import RequestObserved
from trafficmock.wire.response import Failure

if TYPE_CHECKING:
    from trafficmock.core.parties import Agent
    from trafficmock.core.pending import PendingRequest
    from trafficmock.core.registry import Registry
    from trafficmock.wire.inbound import RequestCancel

MOST_AWAITED = 10_000
"""Reports awaited from one agent; beyond it the oldest is no longer waited for."""

_NO_REPORT = Failure("Error", "The agent reported neither a response nor an error.")


@define(eq=False, kw_only=True)
class AwaitedReport:
    """A request that is on its way upstream.

    :param head: the first request of its redirect chain, itself when there is none.
    :param recorded: the history was told of it; it is not told of a hop after nothing.
    :param redirected: its redirect was reported and the next hop has not come yet.
    """

    request_id: str
    action: Literal["continue", "passthrough"]
    owner: Owner | None
    observers: tuple[str, ...]
    head: str
    recorded: bool = True
    redirected: bool = False


@define
class Awaited:
    """The reports that agents owe; while one is owed its request id is in use."""

    holders: dict[str, Agent] = field(factory=dict)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self.holders

    def add(self, agent: Agent, report: AwaitedReport) -> None:
        """Expect the agent to report on a request that it was told to send."""
        self.holders[report.request_id] = agent
        agent.awaited[report.request_id] = report
        if len(agent.awaited) > MOST_AWAITED:
            self.free(agent, next(iter(agent.awaited.values())))

    def free(self, agent: Agent, report: AwaitedReport) -> None:
        """Wait for a report no longer."""
        del self.holders[report.request_id]
        del agent.awaited[report.request_id]
        agent.tails.pop(report.head, None)


@define
class Reports:
    """Takes the reports and hops of agents."""

    registry: Registry
    awaited: Awaited
    pending: dict[str, PendingRequest]

    def response(self, agent: Agent, message: RequestResponse, out: Effects) -> None:
        """Record and pass on what the upstream said.

        A failure is the chain's newest hop's, whichever hop the agent names.
        """
        report = agent.awaited.get(message.request_id)
        if report is None and not message.ok:
            report = agent.awaited.get(agent.tails.get(message.request_id, ""))
        if report is None:
            return
        response = message.response if message.ok else UNSET
        if response is UNSET:
            self.failed(agent, report, message.error or _NO_REPORT, out)
            return
        if report.recorded:
            out.append(ResponseReported(report.request_id, response, None))
        if report.observers:
            out.append(Send(report.observers, message))
        if response.is_redirect():
            report.redirected = True
        else:
            self.awaited.free(agent, report)

    def failed(self, agent: Agent, report: AwaitedReport, error: Failure, out: Effects) -> None:
        """Record and pass on that the upstream failed."""
        self.awaited.free(agent, report)
        if report.recorded:
            out.append(ResponseReported(report.request_id, None, error))
        if report.observers:
            news = RequestResponse(request_id=report.request_id, ok=False, error=error)
            out.append(Send(report.observers, news))

    def undelivered(self, request_id: str, error: Failure, out: Effects) -> None:
        """Note that the agent could not be told to send a request on."""
        agent = self.awaited.holders.get(request_id)
        if agent is not None:
            self.failed(agent, agent.awaited[request_id], error, out)

    def cancel(self, agent: Agent, message: RequestCancel, out: Effects) -> None:
        """Note that the application gave up a request that is on its way."""
        report = agent.awaited.get(message.request_id)
        if report is not None:
            reason = message.reason or "The application gave the request up."
            self.failed(agent, report, Failure("AbortError", reason, code="aborted"), out)

    def hop(self, agent: Agent, message: RequestObserve, out: Effects) -> None:
        """Take the next request of a redirect chain; it is not routed anew."""
        request_id, client_id, request = message.request_id, message.client_id, message.request
        if request_id in self.awaited or request_id in self.pending:
            out.append(Note("warn", f"{client_id!r} used the request id {request_id} twice"))
            return
        prior = agent.awaited.get(message.redirected_from_request_id or "")
        report = AwaitedReport(
            request_id=request_id,
            action=prior.action if prior else "passthrough",
            owner=prior.owner if prior else None,
            observers=self.registry.observers,
            head=prior.head if prior else request_id,
            recorded=prior.recorded if prior else False,
        )
        if prior is not None:
            self.awaited.free(agent, prior)
            agent.tails[report.head] = request_id
        if prior is not None and prior.recorded:
            out.append(
                HopSeen(request_id, client_id, request, prior.request_id, prior.action, prior.owner)
            )
        if report.observers:
            out.append(Send(report.observers, RequestObserved(request_id, request, client_id)))
        self.awaited.add(agent, report)

    def agent_lost(self, agent: Agent, error: Failure, out: Effects) -> None:
        """Say for every request on its way that its outcome will not be known."""
        for report in list(agent.awaited.values()):
            if report.redirected:
                self.awaited.free(agent, report)
            else:
                self.failed(agent, report, error, out)
