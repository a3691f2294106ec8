"""The life of a request from its arrival to its one decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import UNSET

from trafficmock.core import mocks, records, texts
from trafficmock.core.effects import Effects, Note, Send
from trafficmock.core.lifecycle import IllegalStepError, request_step
from trafficmock.core.lifecycle import RequestStage as Stage
from trafficmock.core.ownership import to_be_asked
from trafficmock.core.registry import SUBSCRIBE, with_observer
from trafficmock.core.reports import AwaitedReport
from trafficmock.wire import body
from trafficmock.wire import outbound as to_client
from trafficmock.wire.inbound import RequestResponse
from trafficmock.wire.response import Failure, Response

if TYPE_CHECKING:
    from trafficmock.core.alarm import Alarm
    from trafficmock.core.claims import Claim, Claimant, Claims
    from trafficmock.core.moment import Moment
    from trafficmock.core.parties import Agent
    from trafficmock.core.registry import Judgement, Registry, Route, Test
    from trafficmock.core.reports import Awaited
    from trafficmock.core.settings import Settings
    from trafficmock.core.watch import Watch
    from trafficmock.wire.inbound import RequestCancel, RequestStart
    from trafficmock.wire.matcher import Diagnostic
    from trafficmock.wire.request import Overrides, Request


@define(eq=False, kw_only=True)
class PendingRequest:
    """A request that is paused in the application.

    :param owner_id: the connection of an owner that hears how it ended though it may not
        observe (feature ``subscribe``).
    """

    id: str
    client_id: str
    request: Request
    agent: Agent
    observers: tuple[str, ...]
    stage: Stage = Stage.OBSERVED
    claim: Claim | None = None
    test: Test | None = None
    owner: records.Owner | None = None
    owner_id: str | None = None
    fetches: set[str] = field(factory=set)

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.url}"

    def step(self, stage: Stage) -> None:
        """Go on to ``stage``, if the table has that step."""
        self.stage = request_step(self.stage, stage)


@define
class Requests:
    """All paused requests. Each is settled exactly once, whatever happens."""

    settings: Settings
    registry: Registry
    claims: Claims
    watch: Watch
    alarm: Alarm
    awaited: Awaited
    pending: dict[str, PendingRequest] = field(factory=dict)

    # Arrival

    def start(self, agent: Agent, message: RequestStart, now: Moment, out: Effects) -> None:
        """Take a new request: record it, tell the workers, find its owner."""
        request_id = message.request_id
        if request_id in self.pending or request_id in self.awaited:
            self._refuse_id(agent, message, out)
            return
        observers = self.registry.observers
        pending = PendingRequest(
            id=request_id,
            client_id=message.client_id,
            request=message.request,
            agent=agent,
            observers=observers,
        )
        self.pending[request_id] = agent.pending[request_id] = pending
        out.append(records.RequestSeen(request_id, message.client_id, message.request))
        if observers:
            news = to_client.RequestObserved(request_id, message.request, message.client_id)
            out.append(Send(observers, news))
        self._find_owner(pending, now, out)

    def _refuse_id(self, agent: Agent, message: RequestStart, out: Effects) -> None:
        text = f"The request id {message.request_id} is in use; the first holder keeps it."
        out.append(Note("warn", f"{message.client_id!r}: {text}"))
        refusal = to_client.DecisionError(message.request_id, "internal", text)
        out.append(Send((agent.id,), refusal))

    def _find_owner(self, pending: PendingRequest, now: Moment, out: Effects) -> None:
        judgement = self._judge(pending)
        if judgement is None:
            self._pass_through(pending, out)
            return
        asked = to_be_asked("http", judgement)
        if asked:
            self._ask(pending, judgement, asked, now, out)
            return
        claimants = list(judgement.yes.values())
        if len(claimants) == 1:
            self.watch.begin(pending, now, out)
        self._decide(pending, claimants, out)

    def _judge(self, pending: PendingRequest) -> Judgement | None:
        if self.settings.ownership == "always-ask":
            return self.registry.everybody("http")
        request = pending.request
        return self.registry.judge("http", request.url, request.method, pending.client_id)

    def _ask(
        self,
        pending: PendingRequest,
        judgement: Judgement,
        asked: dict[str, Test],
        now: Moment,
        out: Effects,
    ) -> None:
        pending.step(Stage.CLAIMING)
        pending.claim = self.claims.begin(
            "http",
            pending.id,
            sequence=self.registry.sequence,
            deadline=now.seconds + self.settings.claim_timeout,
            asked=asked,
            judgement=judgement,
        )
        workers = tuple({test.worker.id: None for test in asked.values()})
        question = to_client.RequestClaim(pending.id, pending.request, pending.client_id)
        out.append(Send(workers, question))
        self.alarm.need(pending.claim.deadline, out)

    # The end of a claim round

    def claimed(self, claim: Claim, out: Effects) -> None:
        """Act on a round in which everybody has answered."""
        pending = self.pending[claim.subject_id]
        pending.claim = None
        self._decide(pending, claim.claimants(self.registry), out)

    def claim_expired(self, claim: Claim, out: Effects) -> None:
        """Act on a round whose time is up."""
        pending = self.pending[claim.subject_id]
        milliseconds = round(self.settings.claim_timeout * 1000)
        text = texts.claim_timeout(str(pending), milliseconds, claim.waiting.values())
        self.fail(pending, "claim_timeout", text, out)

    def owner_silent(self, pending: PendingRequest, out: Effects) -> None:
        """Act on an owner that was not asked and gives no sign of life."""
        if pending.test is not None:
            milliseconds = round(self.settings.claim_timeout * 1000)
            text = texts.owner_silent(str(pending), milliseconds, pending.test)
            self.fail(pending, "claim_timeout", text, out)

    def _decide(self, pending: PendingRequest, claimants: list[Claimant], out: Effects) -> None:
        if not claimants:
            self._pass_through(pending, out)
        elif len(claimants) == 1:
            self._match(pending, *claimants[0], out)
        else:
            self._ambiguous(pending, claimants, out)

    def _match(
        self, pending: PendingRequest, test: Test, routes: list[Route], out: Effects
    ) -> None:
        route_id = routes[0].id
        pending.step(Stage.MATCHED)
        pending.test = test
        if SUBSCRIBE in test.worker.features:
            pending.owner_id = test.worker.id
        pending.owner = records.Owner(test.id, route_id, test.title, test.file)
        test.requests[pending.id] = pending
        limit, size = self.settings.handler_body_bytes, body.size(pending.request.body_base64)
        if limit and size > limit:
            text = texts.too_big_for_handler(str(pending), size, limit)
            self.fail_owner(pending, "internal", text, out)
            return
        match = to_client.RequestMatched(
            pending.id, pending.request, pending.client_id, route_id, test.id
        )
        out.append(Send((test.worker.id,), match))

    def _ambiguous(self, pending: PendingRequest, claimants: list[Claimant], out: Effects) -> None:
        matches = [route.diagnostic(test) for test, routes in claimants for route in routes]
        text = texts.ambiguous(str(pending), claimants)
        self.fail(pending, "ambiguous_route", text, out, matches=matches)
        for test, _ in claimants:
            complaint = to_client.ProxyError("ambiguous_route", text, test.id, matches)
            out.append(Send((test.worker.id,), complaint))

    # Decisions

    def _pass_through(self, pending: PendingRequest, out: Effects) -> None:
        self._settle(pending)
        out.append(records.RequestPassedThrough(pending.id))
        out.append(Send((pending.agent.id,), to_client.DecisionPassthrough(pending.id)))
        self._await_report(pending, None)

    def decline(self, pending: PendingRequest, out: Effects) -> None:
        """Send a request on whose only owner gave it back."""
        self._pass_through(pending, out)

    def continue_(self, pending: PendingRequest, overrides: Overrides | None, out: Effects) -> None:
        """Send the request upstream, changed as its owner said."""
        try:
            if overrides is not None:
                mocks.check_overrides(overrides)
        except mocks.UnsendableMockError as error:
            text = texts.bad_overrides(str(pending), str(error))
            self.fail_owner(pending, "handler_failed", text, out)
            return
        self._settle(pending)
        out.append(records.RequestContinued(pending.id, _owner(pending), overrides))
        sent = mocks.overrides_for(overrides, pending.agent.features) if overrides else UNSET
        out.append(Send((pending.agent.id,), to_client.DecisionContinue(pending.id, sent)))
        self._await_report(pending, pending.owner)

    def fulfill(self, pending: PendingRequest, response: Response, out: Effects) -> None:
        """Answer the application, or fail both sides when no HTTP response can carry it."""
        try:
            response = mocks.sendable(response)
        except mocks.UnsendableMockError as error:
            text = texts.bad_mock(str(pending), str(error))
            self.fail_owner(pending, "handler_failed", text, out)
            return
        self._settle(pending)
        out.append(records.RequestFulfilled(pending.id, _owner(pending), response))
        sent = mocks.response_for(response, pending.agent.features)
        out.append(Send((pending.agent.id,), to_client.DecisionFulfill(pending.id, sent)))
        if pending.observers:
            news = RequestResponse(pending.id, ok=True, response=response)
            out.append(Send(pending.observers, news))

    def abort(
        self,
        pending: PendingRequest,
        decision: to_client.DecisionAbort,
        out: Effects,
    ) -> None:
        """Fail the application's call as its owner said."""
        self._settle(pending)
        code = decision.error_code
        detail = decision.message or code
        out.append(records.RequestAborted(pending.id, pending.owner, code, detail))
        out.append(Send((pending.agent.id,), decision))
        self._broadcast_failure(pending, Failure("AbortError", detail, code=code), out)

    def cancel(self, agent: Agent, message: RequestCancel, out: Effects) -> None:
        """Forget a request that the application gave up."""
        pending = agent.pending.get(message.request_id)
        if pending is None:
            return
        reason = message.reason or "The application gave the request up."
        self._settle(pending)
        out.append(records.RequestAborted(pending.id, pending.owner, "aborted", reason))
        self._broadcast_failure(pending, Failure("AbortError", reason, code="aborted"), out)
        self._fail_fetches(pending, reason, out)

    def fail(
        self,
        pending: PendingRequest,
        code: to_client.ErrorCode,
        text: str,
        out: Effects,
        *,
        matches: list[Diagnostic] | None = None,
        agent_lives: bool = True,
    ) -> None:
        """Settle a request that nobody can decide."""
        self._settle(pending)
        out.append(records.RequestFailed(pending.id, pending.owner, code, text, matches))
        if agent_lives:
            refusal = to_client.DecisionError(pending.id, code, text, matches or UNSET)
            out.append(Send((pending.agent.id,), refusal))
        self._broadcast_failure(pending, Failure("Error", text, code=code), out)
        if pending.fetches:
            self._fail_fetches(pending, text, out)

    def fail_owner(
        self, pending: PendingRequest, code: to_client.ErrorCode, text: str, out: Effects
    ) -> None:
        """Settle a request through its owner's fault, and tell the owner."""
        test = pending.test
        self.fail(pending, code, text, out)
        if test is not None:
            out.append(Send((test.worker.id,), to_client.ProxyError(code, text, test.id)))

    # What every settling has in common

    def _settle(self, pending: PendingRequest) -> None:
        pending.step(Stage.SETTLED)
        del self.pending[pending.id]
        del pending.agent.pending[pending.id]
        if pending.claim is not None:
            self.claims.drop(pending.claim)
            pending.claim = None
        if pending.test is not None:
            self.watch.end(pending)
            del pending.test.requests[pending.id]
            pending.test = None

    def _await_report(self, pending: PendingRequest, owner: records.Owner | None) -> None:
        report = AwaitedReport(
            request_id=pending.id,
            action="continue" if owner else "passthrough",
            owner=owner,
            # The owner waits for the response even where it does not observe.
            observers=with_observer(pending.observers, pending.owner_id if owner else None),
            head=pending.id,
            owner_id=pending.owner_id if owner else None,
        )
        self.awaited.add(pending.agent, report)

    def _broadcast_failure(self, pending: PendingRequest, error: Failure, out: Effects) -> None:
        if pending.observers:
            news = RequestResponse(pending.id, ok=False, error=error)
            out.append(Send(pending.observers, news))

    def _fail_fetches(self, pending: PendingRequest, text: str, out: Effects) -> None:
        for fetch_id in sorted(pending.fetches):
            worker_id = pending.agent.fetches.pop((pending.id, fetch_id), None)
            if worker_id is not None:
                answer = to_client.FetchDone(
                    pending.id, fetch_id, ok=False, error=Failure("Error", text)
                )
                out.append(Send((worker_id,), answer))


def _owner(pending: PendingRequest) -> records.Owner:
    if pending.owner is None:
        raise IllegalStepError(f"request {pending.id} was decided by nobody")
    return pending.owner
