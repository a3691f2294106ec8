"""Handles the announcement of requests, and hands them to their owners."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from sys import maxsize
from typing import ClassVar

from attrs import define
from msgspec import UNSET, UnsetType, structs

from trafficmock import records
from trafficmock.core import error_messages
from trafficmock.core.effects import EffectList
from trafficmock.core.http.chains import Chains
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.missing_bodies import body_overdue
from trafficmock.core.http.observation import arrival_of, observers_of, send_observed
from trafficmock.core.http.request_changes import for_continue, has_scheme_of
from trafficmock.core.isolation.lost_contexts import explain
from trafficmock.core.ownership.claims import Claimant
from trafficmock.core.ownership.compared_content import content_of, values_for
from trafficmock.core.ownership.owner_resolution import OwnerResolution, elsewhere_of_own_call
from trafficmock.core.state.lifecycle import (
    Chain,
    DeferredObservation,
    PendingRequest,
    context_of,
)
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.core.state.registered import Kind, RegisteredRoute, RegisteredTest
from trafficmock.core.state.stages import IllegalStepError, RequestStage
from trafficmock.matching.request_content import RequestContent
from trafficmock.wire import outbound as to_client
from trafficmock.wire.features import CHAIN, CONTEXT, STREAM, SUBSCRIBE
from trafficmock.wire.inbound import RequestClaimResult, RequestStart
from trafficmock.wire.outbound import Context
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic

_ID = attrgetter("id")

_MATCHED = RequestStage.MATCHED  # as in `decisions`: looked up once, not for each request


@define
class RequestRouting(OwnerResolution[PendingRequest]):
    """Finds the owner of each request, and sends the request to it.

    :class:`.Decisions` settles requests.
    """

    kind: ClassVar[Kind] = "http"

    decisions: Decisions
    chains: Chains

    # Arrival

    def start(self, agent: Agent, message: RequestStart, out: EffectList) -> None:
        """Handle ``request:start``: record the request, send it to observers, find its owner."""
        request_id, state = message.request_id, self.state
        if agent.local is not None:
            agent.local.asks(out.now.seconds, message.unreported or 0)
        if request_id in state.pending or request_id in state.awaited.holders:
            self._refuse_id(agent, message, out)
            return
        client_id, request = message.client_id, message.request
        body_pending = message.body_pending is True and STREAM in agent.features
        if body_pending:
            request = structs.replace(request, body_base64=body.NULL)
        context_test = None
        if message.context is not UNSET and CONTEXT in agent.features:
            context_test = state.contexts.seen(message.context, out.now.seconds)
        framework = state.registry.framework_call(request.url)
        observers: tuple[str, ...] = ()
        if framework is not None:
            context_test = None
        elif context_test is None:
            observers = state.registry.observers
        else:
            observers = observers_of(context_test, state.registry)
        arrival = None
        if state.registry.asking_when and (observers or body_pending):
            arrival = arrival_of(state.registry, out.now.seconds)
        pending = PendingRequest(
            id=request_id,
            client_id=client_id,
            request=request,
            agent=agent,
            announced_at=out.now.seconds,
            observers=observers,
            deferred=DeferredObservation(client_id, request, context_test, arrival)
            if body_pending
            else None,
            context_test=context_test,
            lost=explain(agent, message.origin)
            if context_test is None and framework is None and state.contexts.running
            else None,
            origin=message.origin,
            framework=framework,
            elsewhere=elsewhere_of_own_call(agent, request.url, state.settings.own_hosts),
        )
        state.pending[request_id] = agent.pending[request_id] = pending
        prior = message.redirected_from_request_id or None
        if prior is not None:
            state.awaited.followed(agent, prior)
        out.record(
            records.RequestSeen(
                request_id,
                client_id,
                request,
                body_pending=body_pending,
                redirected_from=prior,
                carried=None if context_test is None else context_test.carried,
                lost=pending.lost,
                elsewhere=pending.elsewhere,
            )
        )
        if observers and not body_pending:
            observed = to_client.RequestObserved(request_id, request, client_id)
            send_observed(observed, observers, context_test, arrival, out)
        self._find_owner(pending, request.url, request.method, out, self._content)

    def _refuse_id(self, agent: Agent, message: RequestStart, out: EffectList) -> None:
        text = f"The request id {message.request_id} is in use; the first holder keeps it."
        out.note("warn", f"{message.client_id!r}: {text}")
        refusal = to_client.DecisionError(message.request_id, "internal", text)
        out.send(agent.id, refusal)

    # Ownership

    def _find(self, pending_id: str) -> PendingRequest:
        return self.state.pending[pending_id]

    def _claiming(self, pending: PendingRequest) -> to_client.RequestClaim:
        pending.step(RequestStage.CLAIMING)
        context: Context | UnsetType = context_of(pending.context_test)
        return to_client.RequestClaim(pending.id, pending.request, pending.client_id, context)

    def _about(
        self,
        pending: PendingRequest,
        question: to_client.RequestClaim | to_client.SocketClaim,
        test: RegisteredTest,
        routes: list[RegisteredRoute],
    ) -> to_client.RequestClaim | to_client.SocketClaim:
        about = super()._about(pending, question, test, routes)
        matchers = [each.matcher for each in routes]
        return structs.replace(about, values=values_for(matchers, partial(self._content, pending)))

    def _content(self, pending: PendingRequest) -> RequestContent:
        is_pending = pending.deferred is not None
        return content_of(pending.request, self.state.registry, is_pending=is_pending)

    def _await_body(self, pending: PendingRequest, out: EffectList) -> None:
        pending.step(RequestStage.AWAITS_BODY)
        if self.state.settings.body_timeout and pending.body_deadline is None:
            # From the announcement on, so that the time of a claim counts.
            due = pending.announced_at + self.state.settings.body_timeout
            overdue = partial(body_overdue, self.decisions, pending)
            pending.body_deadline = self.state.deadlines.add(due, overdue, out)
        out.send(pending.agent.id, to_client.NeedBody(pending.id))

    def find_owner_with_body(self, pending: PendingRequest, out: EffectList) -> None:
        """Find the owner of a request whose body has come, which its routes look at."""
        self._find_owner(pending, pending.url, pending.method, out, self._content)

    def _pass_through(self, pending: PendingRequest, out: EffectList) -> None:
        self.decisions.pass_through(pending, out)

    def fail(
        self,
        pending: PendingRequest,
        code: to_client.ErrorCode,
        text: str,
        out: EffectList,
        *,
        matches: list[RouteMatchDiagnostic] | None = None,
    ) -> None:
        """Settle a request by an error; see :meth:`.Decisions.fail`."""
        self.decisions.fail(pending, code, text, out, matches=matches)

    def owner_silent(self, pending: PendingRequest, out: EffectList) -> None:
        """Fail a request whose owner's worker gave no sign of life in time."""
        if pending.test is not None:
            milliseconds = round(self.state.settings.claim_timeout * 1000)
            text = error_messages.owner_silent(pending.subject, milliseconds, pending.test)
            self.decisions.fail(pending, "claim_timeout", text, out)

    def _match(self, pending: PendingRequest, claimant: Claimant, out: EffectList) -> None:
        test, routes = claimant
        pending.owner = self._owner(pending, test, routes[0])
        if SUBSCRIBE in test.worker.features:
            pending.owner_id = test.worker.id
        if CHAIN in test.worker.features:
            self.chains.begin(pending, claimant)
        else:
            pending.routes = tuple(map(_ID, routes))
        pending.give_to(test)
        if pending.deferred is None:
            self.hand_over(pending, out)
        else:
            self._await_body(pending, out)

    def hand_over(self, pending: PendingRequest, out: EffectList) -> None:
        """Send a request to its owner's handlers, or answer by the reply of a route.

        A body above ``--handler-body-bytes`` fails the request.
        """
        test, owner = pending.test, pending.owner
        if test is None or owner is None:
            raise IllegalStepError(f"request {pending.id} has no owner to be handed to")
        pending.step(_MATCHED)
        request, limit = pending.request, self.state.settings.handler_body_bytes or maxsize
        # The letters of a body are never fewer than its bytes.
        if request.truncated is True or len(memoryview(request.body_base64)) > limit:
            why = self._why_not_whole(pending)
            if why:
                self.decisions.fail_owner(pending, "internal", why, out)
                return
        silent = partial(self.owner_silent, pending)
        self.state.owner_timeouts.begin(pending, test.worker, silent, out)
        if pending.chain is not None:
            pending.chain.request = request
            self.proceed(pending, pending.chain, out)
            return
        match = to_client.RequestMatched(
            pending.id,
            request,
            pending.client_id,
            owner.route_id,
            test.id,
            context_of(pending.context_test),
        )
        out.send(test.worker.id, match)

    def _why_not_whole(self, pending: PendingRequest) -> str:
        """Return why no handler can get the body of a request; empty if one can."""
        request, limit = pending.request, self.state.settings.handler_body_bytes
        if request.truncated is not True and not body.is_longer(
            request.body_base64, limit or maxsize
        ):
            return ""
        came = body.size(request.body_base64)
        size = came if request.body_size is UNSET else max(came, request.body_size)
        if limit and size > limit:
            return error_messages.too_big_for_handler(pending.subject, size, limit)
        return error_messages.body_cut(pending.subject, size)

    def proceed(self, pending: PendingRequest, chain: Chain, out: EffectList) -> None:
        """Go on with the chain of a request; a request that it does not decide goes upstream."""
        if self.chains.proceed(pending, chain, out):
            return
        if chain.route is None:
            self.unmatched(pending, out)
        else:
            self.continue_unhandled(pending, chain, out)

    def continue_unhandled(self, pending: PendingRequest, chain: Chain, out: EffectList) -> None:
        """Send a request that no handler decided upstream, unless strict mode refuses it."""
        if not has_scheme_of(pending.url, chain.changes):
            text = error_messages.other_scheme(pending.subject, chain.request.url)
            self.decisions.fail_owner(pending, "handler_failed", text, out)
        elif not self.refused(pending, out, chain.request.url):
            overrides = for_continue(pending.request, chain.changes)
            self.decisions.continue_(pending, overrides, out)

    def judged(self, worker: Worker, message: RequestClaimResult, out: EffectList) -> None:
        """Handle the answer of a worker about the predicates of a chain's routes."""
        pending = self.state.pending.get(message.request_id)
        chain = None if pending is None else pending.chain
        if pending is None or chain is None or not chain.asks or chain.owner.worker is not worker:
            return
        self.chains.judged(chain, message)
        self.proceed(pending, chain, out)
