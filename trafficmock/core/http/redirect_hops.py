"""What agents send without a route: hops of redirects, and connections that are not read.

The decision about a request holds for the hops after it.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import define
from msgspec import UNSET, UnsetType

from trafficmock.core.effects import EffectList
from trafficmock.core.http.deferred_bodies import send_deferred_report
from trafficmock.core.http.observation import arrival_of, observers_of, send_observed
from trafficmock.core.isolation.unseen_connections import UnseenConnections
from trafficmock.core.ownership.refusals import Refusals
from trafficmock.core.ownership.registry import with_observer
from trafficmock.core.ownership.strictness import Refusal
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import AwaitedReport, ContextTest, PendingRequest
from trafficmock.core.state.peers import Agent
from trafficmock.records import HopSeen, RequestFailed, RequestSeen
from trafficmock.wire.features import CONTEXT, STRICT
from trafficmock.wire.inbound import RequestObserve, RequestResponse
from trafficmock.wire.outbound import UNMATCHED, DecisionError, DecisionPassthrough, RequestObserved
from trafficmock.wire.payloads.serialized_response import SerializedError


@define
class RedirectHops:
    """Handles the next requests of redirect chains; the owner is that of the first request.

    :param observers_before: see :meth:`.LocalDecisions.observers_before`.
    """

    state: SharedState
    refusals: Refusals
    observers_before: Callable[[Agent, tuple[str, ...]], tuple[str, ...]]
    unseen: UnseenConnections

    def hop(self, agent: Agent, message: RequestObserve, out: EffectList) -> None:
        """Handle ``request:observe``: a hop of redirects, or a connection; neither is routed."""
        request_id, client_id, request = message.request_id, message.client_id, message.request
        if request_id in self.state.awaited.holders or request_id in self.state.pending:
            text = f"{client_id!r} used the request id {request_id} twice"
            out.note("warn", text)
            if _awaits_decision(agent, message):
                out.send(agent.id, DecisionError(request_id, "internal", text))
            return
        prior = agent.awaited.get(message.redirected_from_request_id or "")
        owner_id = prior.owner_id if prior else None
        context_test = self._context_test(agent, message, prior, out)
        observers = self._observers(agent, prior, context_test)
        judge_hops: bool | UnsetType = UNSET
        if _awaits_decision(agent, message):
            hop = self._as_pending(agent, message, prior, out)
            hop.context_test, hop.observers = context_test, with_observer(observers, owner_id)
            refusal = self.state.strictness.refusal(hop)
            if refusal is not None:
                self._refuse_hop(hop, prior, refusal, out)
                return
            # A chain of redirects goes on as it began.
            judge_hops = prior is not None or self.state.strictness.judges_hops(hop) or UNSET
        if prior is None and request.method == "CONNECT":
            self.unseen.passed(agent, message, context_test, out, allowed=judge_hops is True)
        else:
            self._follow(agent, message, prior, out, context_test=context_test, observers=observers)
        if _awaits_decision(agent, message):
            out.send(agent.id, DecisionPassthrough(request_id, judge_hops))

    def _follow(
        self,
        agent: Agent,
        message: RequestObserve,
        prior: AwaitedReport | None,
        out: EffectList,
        *,
        context_test: ContextTest | None,
        observers: tuple[str, ...],
    ) -> None:
        """Record a hop with the decision about the first request, and tell its observers."""
        request_id, client_id, request = message.request_id, message.client_id, message.request
        owner_id = prior.owner_id if prior else None
        report = AwaitedReport(
            request_id=request_id,
            action=prior.action if prior else "passthrough",
            owner=prior.owner if prior else None,
            observers=with_observer(observers, owner_id),
            owner_id=owner_id,
            head=prior.head if prior else request_id,
            recorded=prior.recorded if prior else False,
            context_test=context_test,
            unasked=prior.unasked if prior else False,
        )
        if prior is not None:
            send_deferred_report(prior, out)
            self.state.awaited.free(agent, prior)
            agent.tails[report.head] = request_id
        if prior is not None and prior.recorded:
            seen = HopSeen(
                request_id,
                client_id,
                request,
                prior.request_id,
                prior.action,
                prior.owner,
                carried=None if context_test is None else context_test.carried,
            )
            out.record(seen)
        if report.observers:
            observed = RequestObserved(request_id, request, client_id)
            arrival = arrival_of(self.state.registry, out.now.seconds)
            send_observed(observed, report.observers, context_test, arrival, out)
        self.state.awaited.add(agent, report, out)

    def _observers(
        self, agent: Agent, prior: AwaitedReport | None, context_test: ContextTest | None
    ) -> tuple[str, ...]:
        """Return the observers of a hop; for a late report, those at the time of the hop."""
        of_all = self.state.registry.observers
        if context_test is not None:
            of_all = observers_of(context_test, self.state.registry)
        return self.observers_before(agent, of_all) if prior and prior.unasked else of_all

    def _context_test(
        self,
        agent: Agent,
        message: RequestObserve,
        prior: AwaitedReport | None,
        out: EffectList,
    ) -> ContextTest | None:
        """Return the test whose context a hop carries: that of the chain, if it is known."""
        if prior is not None:
            return prior.context_test
        if message.context is UNSET or CONTEXT not in agent.features:
            return None
        return self.state.contexts.seen(message.context, out.now.seconds)

    def _as_pending(
        self,
        agent: Agent,
        message: RequestObserve,
        prior: AwaitedReport | None,
        out: EffectList,
    ) -> PendingRequest:
        """Make a request of a hop, for :class:`.Strictness`; it is not among the paused ones."""
        owner = prior.owner if prior else None
        return PendingRequest(
            id=message.request_id,
            client_id=message.client_id,
            request=message.request,
            agent=agent,
            announced_at=out.now.seconds,
            observers=(),
            test=self.state.registry.tests.get(owner.test_id) if owner else None,
            owner=owner,
            framework=self.state.registry.framework_call(message.request.url),
        )

    def _refuse_hop(
        self,
        hop: PendingRequest,
        prior: AwaitedReport | None,
        refusal: Refusal,
        out: EffectList,
    ) -> None:
        """Refuse the next request of a redirect chain, as a request that no route matches."""
        if prior is not None:
            send_deferred_report(prior, out)
            self.state.awaited.free(hop.agent, prior)
        text, notice = self.refusals.message("http", hop, refusal, out.now)
        carried = None if hop.context_test is None else hop.context_test.carried
        seen = RequestSeen(
            hop.id,
            hop.client_id,
            hop.request,
            redirected_from=prior.request_id if prior else None,
            carried=carried,
        )
        out.record(seen)
        if hop.observers:
            observed = RequestObserved(hop.id, hop.request, hop.client_id)
            arrival = arrival_of(self.state.registry, out.now.seconds)
            send_observed(observed, hop.observers, hop.context_test, arrival, out)
        out.record(RequestFailed(hop.id, hop.owner, UNMATCHED, text, None))
        out.send(hop.agent.id, DecisionError(hop.id, UNMATCHED, text))
        if hop.observers:
            error = SerializedError("Error", text, code=UNMATCHED)
            out.send_all(hop.observers, RequestResponse(hop.id, ok=False, error=error))
        if notice is not None:
            out.send(*notice)


def _awaits_decision(agent: Agent, message: RequestObserve) -> bool:
    return message.decide is True and STRICT in agent.features
