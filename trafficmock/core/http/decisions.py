"""Settles paused requests: sends the decision to the agent, and the outcome to the observers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import islice

from attrs import define
from msgspec import UNSET, UnsetType, structs

from trafficmock import records
from trafficmock.core import error_messages
from trafficmock.core.answers import body_way, response_rules
from trafficmock.core.effects import EffectList
from trafficmock.core.http import upstream_fetches
from trafficmock.core.http.deferred_bodies import send_deferred
from trafficmock.core.ownership.registry import with_observer
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import (
    AwaitedReport,
    PendingRequest,
)
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.stages import IllegalStepError, RequestStage
from trafficmock.wire import outbound as to_client
from trafficmock.wire.features import FAULTS
from trafficmock.wire.inbound import RequestCancel, RequestResponse
from trafficmock.wire.payloads.answer import AbortCode, Fault
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import (
    FAULT,
    REQUEST_SETTLED,
    SerializedError,
    SerializedResponse,
)

# Named here because CPython 3.11 takes long to find a member of an enumeration: for each request.
_AWAITS_BODY, _SETTLED = RequestStage.AWAITS_BODY, RequestStage.SETTLED

_HIDDEN = "…"
"""In the history, stands for a context that a handler wrote."""


@define
class Decisions:
    """Settles paused requests, each once."""

    state: SharedState

    def delay(
        self,
        pending: PendingRequest,
        milliseconds: float | UnsetType,
        decide: Callable[[EffectList], None],
        out: EffectList,
    ) -> None:
        """Make a decision after its delay; its worker may be silent meanwhile.

        :param milliseconds: the delay; 0 or ``UNSET`` for none.
        :param decide: makes the decision.
        """
        if not milliseconds:
            decide(out)
            return
        if pending.chain is not None:
            self.state.owner_timeouts.end(pending, pending.chain.owner.worker)
            # A second result of the handler is late.
            pending.chain.run_id = None
        self.state.planned.plan(pending, milliseconds, decide, out)

    def pass_through(self, pending: PendingRequest, out: EffectList) -> None:
        """Settle a request that has no owner: it goes upstream unchanged."""
        judge_hops = self.state.strictness.judges_hops(pending) or UNSET
        self._settle(pending)
        out.record(records.RequestPassedThrough(pending.id, pending.also_matched))
        out.send(pending.agent.id, to_client.DecisionPassthrough(pending.id, judge_hops))
        self._await_report(pending, None, out)

    def continue_(
        self,
        pending: PendingRequest,
        overrides: SerializedOverrides | None,
        out: EffectList,
        *,
        fault: Fault | UnsetType = UNSET,
        rate: int | UnsetType = UNSET,
    ) -> None:
        """Send a request upstream with the owner's overrides.

        Overrides that cannot be sent fail the request and the owner's test.

        :param fault: how the agent breaks the answer, if it does.
        :param rate: the bytes of its body that the application gets in a second.
        """
        if fault is not UNSET and FAULTS not in pending.agent.features:
            self._abort_for(pending, fault, body_way.code_like(fault), out)
            return
        try:
            if overrides is not None:
                response_rules.check_overrides(overrides)
        except response_rules.UnsendableMockError as error:
            text = error_messages.bad_overrides(pending.subject, str(error))
            self.fail_owner(pending, "handler_failed", text, out)
            return
        judge_hops = self.state.strictness.judges_hops(pending) or UNSET
        shown = overrides and _without_contexts(overrides, pending)
        self._settle(pending)
        out.record(records.RequestContinued(pending.id, _owner(pending), shown))
        features = pending.agent.features
        sent = response_rules.overrides_for(overrides, features) if overrides else UNSET
        way = body_way.way_back(fault, rate) if FAULTS in features else UNSET
        out.send(pending.agent.id, to_client.DecisionContinue(pending.id, sent, judge_hops, way))
        self._await_report(pending, pending.owner, out, fault)

    def fulfill(
        self,
        pending: PendingRequest,
        response: SerializedResponse,
        out: EffectList,
        fault: Fault | UnsetType = UNSET,
    ) -> None:
        """Answer a request with a mock, which :mod:`.response_rules` have corrected.

        :param fault: how the answer breaks, if it does.
        """
        if not self._takes(pending, response, out):
            return
        response, note = self._fitting(pending, response)
        if fault is not UNSET:
            # The owner cannot know whether the body ends before the fault.
            pending.observers = with_observer(pending.observers, pending.owner_id)
            if self._break(pending, response, fault, out):
                return
        self._settle(pending)
        out.record(records.RequestFulfilled(pending.id, _owner(pending), response))
        if note is not None:
            out.record(note)
        if fault is not UNSET:
            text = body_way.unreached(fault)
            out.record(records.AnswerNoted(pending.id, body_way.FAULT_UNREACHED, text))
        sent = response_rules.response_for(response, pending.agent.features)
        out.send(pending.agent.id, to_client.DecisionFulfill(pending.id, sent))
        if pending.observers:
            reported = RequestResponse(pending.id, ok=True, response=response)
            out.send_all(pending.observers, reported)

    def _takes(
        self, pending: PendingRequest, response: SerializedResponse, out: EffectList
    ) -> bool:
        """Return whether an agent can give a response; if not, fail the owner's test."""
        try:
            response_rules.check_status(response, pending.agent.features)
        except response_rules.UnsendableMockError as error:
            self.refuse_mock(pending, error, out)
            return False
        return True

    def _fitting(
        self, pending: PendingRequest, response: SerializedResponse
    ) -> tuple[SerializedResponse, records.AnswerNoted | None]:
        """Return a response without what the application cannot get, and the note of that."""
        method, features = pending.request.method, pending.agent.features
        response, why = response_rules.with_trailers(response, method, features)
        note = records.AnswerNoted(pending.id, response_rules.TRAILERS_DROPPED, why)
        return response_rules.for_method(response, method), note if why else None

    def refuse_mock(
        self, pending: PendingRequest, error: response_rules.UnsendableMockError, out: EffectList
    ) -> None:
        """Fail a request, and the owner's test, for a mock that cannot be sent."""
        text = error_messages.bad_mock(pending.subject, str(error))
        self.fail_owner(pending, "handler_failed", text, out)

    def begin_stream(
        self,
        pending: PendingRequest,
        head: SerializedResponse,
        out: EffectList,
        *,
        has_body: bool,
    ) -> SerializedResponse | None:
        """Answer a request with the corrected head of a mock whose body follows.

        :param has_body: whether the response may have a body: otherwise the answer is complete.
        :returns: the head as it is sent; ``None`` for one that the agent cannot give, which fails
            the request and the owner's test.
        """
        if not self._takes(pending, head, out):
            return None
        head, note = self._fitting(pending, head)
        self._settle(pending)
        owner = _owner(pending)
        out.record(records.RequestFulfilled(pending.id, owner, head, body_pending=True))
        if note is not None:
            out.record(note)
        sent = response_rules.response_for(head, pending.agent.features)
        decision = to_client.DecisionFulfill(pending.id, sent, has_body or UNSET)
        out.send(pending.agent.id, decision)
        return head

    def _break(
        self, pending: PendingRequest, response: SerializedResponse, fault: Fault, out: EffectList
    ) -> bool:
        """Answer a request by a response that breaks, or fail it in place of that.

        :returns: ``False`` for a fault behind the end of the body, which does not happen.
        """
        features = pending.agent.features
        way = body_way.breaking(fault, response, pending.request.method)
        code = body_way.code_in_place_of(fault, features)
        if code is not None:
            self._abort_for(pending, fault, code, out)
            return True
        if way is None:
            return False
        self._settle(pending)
        response = structs.replace(response, trailers=UNSET)
        shown, text = body_way.broken_response(way, response), body_way.fault_in_words(way)
        owner = _owner(pending)
        out.record(records.RequestFulfilled(pending.id, owner, shown, body_pending=True))
        out.record(records.StreamEnded(pending.id, shown, text))
        sent = response_rules.response_for(response, features)
        out.send(pending.agent.id, to_client.DecisionFulfill(pending.id, sent, way=way))
        if pending.observers:
            error = SerializedError("Error", text, code=FAULT)
            reported = RequestResponse(pending.id, ok=False, response=shown, error=error)
            out.send_all(pending.observers, reported)
        return True

    def _abort_for(
        self, pending: PendingRequest, fault: Fault, code: AbortCode, out: EffectList
    ) -> None:
        """Fail a request in the place of an answer that breaks."""
        decision = to_client.DecisionAbort(pending.id, code, f"the fault {fault.kind}")
        self.abort(pending, decision, out, by_fault=True)

    def abort(
        self,
        pending: PendingRequest,
        decision: to_client.DecisionAbort,
        out: EffectList,
        *,
        by_fault: bool = False,
    ) -> None:
        """Fail a request with the owner's abort code.

        :param by_fault: whether that stands for an answer with a fault.
        """
        self._settle(pending)
        code = decision.error_code
        detail = decision.message or code
        out.record(records.RequestAborted(pending.id, pending.owner, code, detail, by_fault))
        out.send(pending.agent.id, decision)
        self._broadcast_failure(pending, SerializedError("AbortError", detail, code=code), out)

    def cancel(self, agent: Agent, message: RequestCancel, out: EffectList) -> None:
        """Settle a request that the application cancelled."""
        pending = agent.pending.get(message.request_id)
        if pending is None:
            return
        reason = message.reason or "The application gave the request up."
        self._settle(pending)
        out.record(records.RequestAborted(pending.id, pending.owner, "aborted", reason))
        self._broadcast_failure(pending, SerializedError("AbortError", reason, code="aborted"), out)
        self._fail_fetches(pending, SerializedError("Error", reason, code=REQUEST_SETTLED), out)

    def fail(
        self,
        pending: PendingRequest,
        code: to_client.ErrorCode,
        text: str,
        out: EffectList,
        *,
        matches: list[RouteMatchDiagnostic] | None = None,
        agent_lives: bool = True,
    ) -> None:
        """Settle a request by an error.

        :param code: the error code, see :data:`.ErrorCode`.
        :param matches: the matching routes of an ambiguous request.
        :param agent_lives: whether the agent is connected and gets the error.
        """
        self._settle(pending)
        out.record(records.RequestFailed(pending.id, pending.owner, code, text, matches))
        if agent_lives:
            known = to_client.known_code(code, pending.agent.features)
            refusal = to_client.DecisionError(pending.id, known, text, matches or UNSET)
            out.send(pending.agent.id, refusal)
        self._broadcast_failure(pending, SerializedError("Error", text, code=code), out)
        if pending.fetches:
            self._fail_fetches(pending, SerializedError("Error", text), out)

    def agent_lost(self, agent: Agent, text: str, most: int, out: EffectList) -> int:
        """Settle paused requests of an agent that has disconnected.

        :returns: the number of settled requests, at most ``most``.
        """
        lost = list(islice(agent.pending.values(), most))
        for pending in lost:
            self.fail(pending, "disconnected", text, out, agent_lives=False)
        return len(lost)

    def fail_owner(
        self, pending: PendingRequest, code: to_client.ErrorCode, text: str, out: EffectList
    ) -> None:
        """Settle a request by an error that also fails the owner's test (``proxy:error``).

        :param text: what is wrong; the route and the test are added to it.
        """
        test = pending.test
        if test is not None:
            route = None if pending.chain is None else pending.chain.route
            text = error_messages.of_route(text, test, route)
        self.fail(pending, code, text, out)
        if test is not None:
            out.send(test.worker.id, to_client.ProxyError(code, text, test.id))

    # Common parts

    def _settle(self, pending: PendingRequest) -> None:
        self.state.deadlines.cancel(pending.body_deadline)
        pending.step(_SETTLED)
        del self.state.pending[pending.id]
        del pending.agent.pending[pending.id]
        if pending.claim is not None:
            self.state.claims.drop(pending.claim)
            pending.claim = None
        if pending.test is not None:
            self.state.owner_timeouts.end(pending, pending.test.worker)
            self.state.planned.cancel(pending)
            pending.leave(pending.test)

    def _await_report(
        self,
        pending: PendingRequest,
        owner: records.Owner | None,
        out: EffectList,
        fault: Fault | UnsetType = UNSET,
    ) -> None:
        report = AwaitedReport(
            request_id=pending.id,
            action="continue" if owner else "passthrough",
            owner=owner,
            # The owner waits for the response even if it does not observe.
            observers=with_observer(pending.observers, pending.owner_id)
            if owner
            else pending.observers,
            head=pending.id,
            owner_id=pending.owner_id if owner else None,
            deferred=pending.deferred,
            context_test=pending.context_test,
            fault=fault or None,
        )
        self.state.awaited.add(pending.agent, report, out)

    def _broadcast_failure(
        self, pending: PendingRequest, error: SerializedError, out: EffectList
    ) -> None:
        send_deferred(pending, out)
        if pending.observers:
            reported = RequestResponse(pending.id, ok=False, error=error)
            out.send_all(pending.observers, reported)

    def _fail_fetches(
        self, pending: PendingRequest, error: SerializedError, out: EffectList
    ) -> None:
        for fetch_id in sorted(pending.fetches):
            upstream_fetches.fail(pending.agent, pending.id, fetch_id, error, out)


def _owner(pending: PendingRequest) -> records.Owner:
    if pending.owner is None:
        raise IllegalStepError(f"request {pending.id} was decided by nobody")
    return pending.owner


def _without_contexts(
    overrides: SerializedOverrides, pending: PendingRequest
) -> SerializedOverrides:
    """Return overrides for the history: without the contexts that a handler may have written.

    A context lets its reader send requests in the name of the test.
    """
    if pending.test is None or (overrides.headers is UNSET and overrides.headers_list is UNSET):
        return overrides
    contexts = [test.context for test in pending.test.worker.tests.values() if test.context]
    if not contexts:
        return overrides
    hide = partial(re.compile("|".join(contexts)).sub, _HIDDEN)
    headers, pairs = overrides.headers, overrides.headers_list
    return structs.replace(
        overrides,
        headers=UNSET
        if headers is UNSET
        else {name: hide(value) for name, value in headers.items()},
        headers_list=UNSET if pairs is UNSET else [(name, hide(value)) for name, value in pairs],
    )
