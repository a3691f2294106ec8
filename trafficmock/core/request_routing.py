"""From the arrival of a request to the test that owns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from msgspec import structs

from trafficmock import records
from trafficmock.core import error_messages
from trafficmock.core.claims import to_be_asked
from trafficmock.core.deferred_bodies import DeferredObservation
from trafficmock.core.effects import EffectList
from trafficmock.core.lifecycle import IllegalStepError, PendingRequest
from trafficmock.core.lifecycle import RequestStage as Stage
from trafficmock.wire import body
from trafficmock.wire import outbound as to_client
from trafficmock.wire.features import STREAM, SUBSCRIBE

if TYPE_CHECKING:
    from trafficmock.core.claims import Claim, Claimant, Claims
    from trafficmock.core.decisions import Decisions
    from trafficmock.core.effects import EffectList
    from trafficmock.core.owner_timeout import OwnerTimeouts
    from trafficmock.core.peers import Agent
    from trafficmock.core.registry import RegisteredTest, Registry, Verdicts
    from trafficmock.core.response_reports import AwaitedReports
    from trafficmock.core.settings import Settings
    from trafficmock.core.timers import Alarm
    from trafficmock.wire.inbound import RequestStart


@define
class RequestRouting:
    """Finds the owner of each request; :class:`Decisions` settles it."""

    settings: Settings
    registry: Registry
    claims: Claims
    owner_timeouts: OwnerTimeouts
    alarm: Alarm
    awaited: AwaitedReports
    decisions: Decisions

    # Arrival

    def start(self, agent: Agent, message: RequestStart, out: EffectList) -> None:
        """Take a new request: record it, tell the workers, find its owner."""
        request_id = message.request_id
        if request_id in self.decisions.pending or request_id in self.awaited:
            self._refuse_id(agent, message, out)
            return
        client_id, request = message.client_id, message.request
        body_pending = message.body_pending is True and STREAM in agent.features
        if body_pending:
            request = structs.replace(request, body_base64=body.NULL)
        pending = PendingRequest(
            id=request_id,
            client_id=client_id,
            request=request,
            agent=agent,
            announced_at=out.now.seconds,
            observers=self.registry.observers,
            deferred=DeferredObservation(client_id, request) if body_pending else None,
        )
        self.decisions.pending[request_id] = agent.pending[request_id] = pending
        prior = message.redirected_from_request_id or None
        if prior is not None:
            self.awaited.followed(agent, prior)
        out.record(
            records.RequestSeen(
                request_id, client_id, request, body_pending=body_pending, redirected_from=prior
            )
        )
        if pending.observers and not body_pending:
            news = to_client.RequestObserved(request_id, request, client_id)
            out.send_all(pending.observers, news)
        self._find_owner(pending, out)

    def _refuse_id(self, agent: Agent, message: RequestStart, out: EffectList) -> None:
        text = f"The request id {message.request_id} is in use; the first holder keeps it."
        out.note("warn", f"{message.client_id!r}: {text}")
        refusal = to_client.DecisionError(message.request_id, "internal", text)
        out.send(agent.id, refusal)

    def _find_owner(self, pending: PendingRequest, out: EffectList) -> None:
        judgement = self._judge(pending)
        if judgement is None:
            self.decisions.pass_through(pending, out)
            return
        asked = to_be_asked("http", judgement)
        if asked:
            self._ask(pending, judgement, asked, out)
            return
        self._decide(pending, list(judgement.yes.values()), out)

    def _judge(self, pending: PendingRequest) -> Verdicts | None:
        if self.settings.ownership == "always-ask":
            return self.registry.everybody("http")
        request = pending.request
        return self.registry.judge("http", request.url, request.method, pending.client_id)

    def _ask(
        self,
        pending: PendingRequest,
        judgement: Verdicts,
        asked: dict[str, RegisteredTest],
        out: EffectList,
    ) -> None:
        pending.step(Stage.CLAIMING)
        pending.claim = self.claims.begin(
            "http",
            pending.id,
            sequence=self.registry.sequence,
            deadline=out.now.seconds + self.settings.claim_timeout,
            asked=asked,
            judgement=judgement,
        )
        workers = tuple({test.worker.id: None for test in asked.values()})
        question = to_client.RequestClaim(pending.id, pending.request, pending.client_id)
        out.send_all(workers, question)
        self.alarm.need(pending.claim.deadline, out)

    # The end of a claim round

    def claimed(self, claim: Claim, out: EffectList) -> None:
        """Act on a round in which everybody has answered."""
        pending = self.decisions.pending[claim.subject_id]
        pending.claim = None
        self._decide(pending, claim.claimants(self.registry), out)

    def claim_expired(self, claim: Claim, out: EffectList) -> None:
        """Act on a round whose time is up."""
        pending = self.decisions.pending[claim.subject_id]
        milliseconds = round(self.settings.claim_timeout * 1000)
        text = error_messages.claim_timeout(str(pending), milliseconds, claim.waiting.values())
        self.decisions.fail(pending, "claim_timeout", text, out)

    def owner_silent(self, pending: PendingRequest, out: EffectList) -> None:
        """Act on an owner that gives no sign of life."""
        if pending.test is not None:
            milliseconds = round(self.settings.claim_timeout * 1000)
            text = error_messages.owner_silent(str(pending), milliseconds, pending.test)
            self.decisions.fail(pending, "claim_timeout", text, out)

    def _decide(self, pending: PendingRequest, claimants: list[Claimant], out: EffectList) -> None:
        if not claimants:
            self.decisions.pass_through(pending, out)
        elif len(claimants) == 1:
            self._match(pending, claimants[0], out)
        else:
            self._ambiguous(pending, claimants, out)

    def _match(self, pending: PendingRequest, claimant: Claimant, out: EffectList) -> None:
        test, routes = claimant
        pending.test = test
        if SUBSCRIBE in test.worker.features:
            pending.owner_id = test.worker.id
        pending.owner = records.Owner(test.id, routes[0].id, test.title, test.file)
        pending.routes = tuple([route.id for route in routes])
        test.took(pending)
        if pending.deferred is None:
            self.hand_over(pending, out)
        else:
            pending.step(Stage.AWAITS_BODY)
            self.decisions.deadlines.begin(pending, out)
            out.send(pending.agent.id, to_client.NeedBody(pending.id))

    def hand_over(self, pending: PendingRequest, out: EffectList) -> None:
        """Let the owner's handlers run, unless the body is too large for them."""
        test, owner = pending.test, pending.owner
        if test is None or owner is None:
            raise IllegalStepError(f"request {pending.id} has no owner to be handed to")
        pending.step(Stage.MATCHED)
        limit, size = self.settings.handler_body_bytes, body.size(pending.request.body_base64)
        if limit and size > limit:
            text = error_messages.too_big_for_handler(str(pending), size, limit)
            self.decisions.fail_owner(pending, "internal", text, out)
            return
        self.owner_timeouts.begin(pending, test.worker, out)
        match = to_client.RequestMatched(
            pending.id, pending.request, pending.client_id, owner.route_id, test.id
        )
        out.send(test.worker.id, match)

    def _ambiguous(
        self, pending: PendingRequest, claimants: list[Claimant], out: EffectList
    ) -> None:
        matches = [route.diagnostic(test) for test, routes in claimants for route in routes]
        text = error_messages.ambiguous(str(pending), claimants)
        self.decisions.fail(pending, "ambiguous_route", text, out, matches=matches)
        for test, _ in claimants:
            complaint = to_client.ProxyError("ambiguous_route", text, test.id, matches)
            out.send(test.worker.id, complaint)
