"""After passthrough and continue: which reports are due, and which hops follow which."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

from attrs import define, field
from msgspec import UNSET, Struct, structs

from trafficmock.core.effects import EffectList
from trafficmock.core.http.deferred_bodies import clipped, for_workers
from trafficmock.core.http.observation import (
    may_observe,
    observers_of,
    send_observed,
    sighted,
)
from trafficmock.core.lifecycle import PendingRequest
from trafficmock.core.ownership.registry import with_observer
from trafficmock.records import HopSeen, Owner, RequestFailed, RequestSeen, ResponseReported
from trafficmock.wire.features import CONTEXT, STREAM, STRICT
from trafficmock.wire.inbound import RequestObserve, RequestResponse
from trafficmock.wire.outbound import (
    UNMATCHED,
    DecisionError,
    DecisionPassthrough,
    RequestObserved,
)
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.deferred_bodies import DeferredObservation
    from trafficmock.core.ownership.contexts import Contexts, ContextTest
    from trafficmock.core.ownership.refusals import Refusals
    from trafficmock.core.ownership.registry import Registry
    from trafficmock.core.ownership.strictness import Refusal
    from trafficmock.core.peers import Agent, Worker
    from trafficmock.core.settings import Settings
    from trafficmock.wire.inbound import RequestBody, RequestCancel
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

MOST_AWAITED = 10_000
"""Reports awaited from one agent; beyond it the oldest is no longer waited for."""

_NO_REPORT = SerializedError("Error", "The agent reported neither a response nor an error.")
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


@define
class ResponseReports:
    """Takes the reports and hops of agents.

    :param told_by: picks the observers who are told of what an agent did by itself.
    """

    settings: Settings
    registry: Registry
    contexts: Contexts
    awaited: AwaitedReports
    pending: dict[str, PendingRequest]
    refusals: Refusals
    told_by: Callable[[Agent, tuple[str, ...]], tuple[str, ...]]

    def response(self, agent: Agent, message: RequestResponse, out: EffectList) -> None:
        """Record a response of the upstream, and send it to observers.

        A failure is the chain's newest hop's, whichever hop the agent names.
        """
        report = agent.awaited.get(message.request_id)
        if report is None and not message.ok:
            report = agent.awaited.get(agent.tails.get(message.request_id, ""))
        if report is None:
            return
        response = message.response if message.ok else UNSET
        streams = STREAM in agent.features
        if response is UNSET:
            partial = self._kept(message.response) if streams and message.response else None
            self.failed(agent, report, message.error or _NO_REPORT, out, partial=partial)
            return
        if streams and message.body_pending is True:
            self._head(report, response, out)
            return
        report.send_deferred(out)
        if streams:
            response = self._kept(response)
        if report.recorded:
            given_up = message.error if streams and message.error else None
            out.record(ResponseReported(report.request_id, response, given_up))
        if report.observers:
            if response.truncated is True:
                message = structs.replace(message, response=for_workers(response), error=UNSET)
            out.send_all(report.observers, message)
        if response.is_redirect():
            report.redirected = True
        else:
            self.awaited.free(agent, report)

    def _head(self, report: AwaitedReport, response: SerializedResponse, out: EffectList) -> None:
        """Show a response whose body goes on; a waiter would take this for all of it."""
        if report.recorded:
            report.begun = True
            head = structs.replace(response, body_base64=body.NULL)
            out.record(ResponseReported(report.request_id, head, None, body_pending=True))

    def _kept(self, response: SerializedResponse) -> SerializedResponse:
        return clipped(response, self.settings.history_body_bytes)

    def failed(
        self,
        agent: Agent,
        report: AwaitedReport,
        error: SerializedError,
        out: EffectList,
        *,
        partial: SerializedResponse | None = None,
    ) -> None:
        """Record a failure of the upstream, and send it to observers.

        :param partial: what came before it did, for the history alone.
        """
        self.awaited.free(agent, report)
        report.send_deferred(out)
        if report.recorded:
            out.record(ResponseReported(report.request_id, partial, error))
        if report.observers:
            reported = RequestResponse(request_id=report.request_id, ok=False, error=error)
            out.send_all(report.observers, reported)

    def cancel(self, agent: Agent, message: RequestCancel, out: EffectList) -> None:
        """Note that the application gave up a request that is on its way."""
        report = agent.awaited.get(message.request_id)
        if report is not None:
            reason = message.reason or "The application gave the request up."
            self.failed(agent, report, SerializedError("AbortError", reason, code="aborted"), out)

    def hop(self, agent: Agent, message: RequestObserve, out: EffectList) -> None:
        """Take the next request of a redirect chain; it is not routed anew."""
        request_id, client_id, request = message.request_id, message.client_id, message.request
        if request_id in self.awaited or request_id in self.pending:
            text = f"{client_id!r} used the request id {request_id} twice"
            out.note("warn", text)
            if _awaits_decision(agent, message):
                out.send(agent.id, DecisionError(request_id, "internal", text))
            return
        prior = agent.awaited.get(message.redirected_from_request_id or "")
        owner_id = prior.owner_id if prior else None
        made_for = self._made_for(agent, message, prior, out)
        observers = self._observers(agent, prior, made_for)
        if _awaits_decision(agent, message):
            hop = self._as_pending(agent, message, prior, out)
            hop.made_for, hop.observers = made_for, with_observer(observers, owner_id)
            refusal = self.refusals.strictness.refusal(hop, hop.url)
            if refusal is not None:
                self._refuse_hop(hop, prior, refusal, out)
                return
        report = AwaitedReport(
            request_id=request_id,
            action=prior.action if prior else "passthrough",
            owner=prior.owner if prior else None,
            observers=with_observer(observers, owner_id),
            owner_id=owner_id,
            head=prior.head if prior else request_id,
            recorded=prior.recorded if prior else False,
            made_for=made_for,
            unasked=prior.unasked if prior else False,
        )
        if prior is not None:
            prior.send_deferred(out)
            self.awaited.free(agent, prior)
            agent.tails[report.head] = request_id
        if prior is not None and prior.recorded:
            seen = HopSeen(
                request_id,
                client_id,
                request,
                prior.request_id,
                prior.action,
                prior.owner,
                made_for=None if made_for is None else made_for.made_for,
            )
            out.record(seen)
        if report.observers:
            observed = RequestObserved(request_id, request, client_id)
            sighting = sighted(self.registry, out.now.seconds)
            send_observed(observed, report.observers, made_for, sighting, out)
        self.awaited.add(agent, report, out)
        if _awaits_decision(agent, message):
            out.send(agent.id, DecisionPassthrough(request_id, judge_hops=True))

    def _observers(
        self, agent: Agent, prior: AwaitedReport | None, made_for: ContextTest | None
    ) -> tuple[str, ...]:
        """List who is told of a hop: if it is reported late, the tests that observed by then."""
        of_all = self.registry.observers
        if made_for is not None:
            of_all = observers_of(made_for, self.registry)
        return self.told_by(agent, of_all) if prior and prior.unasked else of_all

    def _made_for(
        self,
        agent: Agent,
        message: RequestObserve,
        prior: AwaitedReport | None,
        out: EffectList,
    ) -> ContextTest | None:
        """Find the test whose context a hop carries: that of its chain, where that is known."""
        if prior is not None:
            return prior.made_for
        if message.context is UNSET or CONTEXT not in agent.features:
            return None
        return self.contexts.resolve(message.context, out.now.seconds)

    def _as_pending(
        self,
        agent: Agent,
        message: RequestObserve,
        prior: AwaitedReport | None,
        out: EffectList,
    ) -> PendingRequest:
        """Write a hop as what strict mode judges; it is nowhere pending."""
        owner = prior.owner if prior else None
        return PendingRequest(
            id=message.request_id,
            client_id=message.client_id,
            request=message.request,
            agent=agent,
            announced_at=out.now.seconds,
            observers=(),
            test=self.registry.tests.get(owner.test_id) if owner else None,
            owner=owner,
        )

    def _refuse_hop(
        self,
        hop: PendingRequest,
        prior: AwaitedReport | None,
        refusal: Refusal,
        out: EffectList,
    ) -> None:
        """Fail the next request of a redirect chain, as if it were one of its own."""
        if prior is not None:
            prior.send_deferred(out)
            self.awaited.free(hop.agent, prior)
        text, told = self.refusals.message("http", hop, refusal)
        made_for = None if hop.made_for is None else hop.made_for.made_for
        seen = RequestSeen(
            hop.id,
            hop.client_id,
            hop.request,
            redirected_from=prior.request_id if prior else None,
            made_for=made_for,
        )
        out.record(seen)
        if hop.observers:
            observed = RequestObserved(hop.id, hop.request, hop.client_id)
            sighting = sighted(self.registry, out.now.seconds)
            send_observed(observed, hop.observers, hop.made_for, sighting, out)
        out.record(RequestFailed(hop.id, hop.owner, UNMATCHED, text, None))
        out.send(hop.agent.id, DecisionError(hop.id, UNMATCHED, text))
        if hop.observers:
            error = SerializedError("Error", text, code=UNMATCHED)
            out.send_all(hop.observers, RequestResponse(hop.id, ok=False, error=error))
        if told is not None:
            out.send(*told)

    def agent_lost(self, agent: Agent, error: SerializedError, most: int, out: EffectList) -> int:
        """Say for requests on their way that their outcome will not be known.

        :returns: how many it was said for, at most ``most``.
        """
        lost = list(islice(agent.awaited.values(), most))
        for report in lost:
            if report.redirected:
                self.awaited.free(agent, report)
            else:
                self.failed(agent, report, error, out)
        return len(lost)


def _awaits_decision(agent: Agent, message: RequestObserve) -> bool:
    return message.decide is True and STRICT in agent.features
