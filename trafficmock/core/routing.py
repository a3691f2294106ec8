"""The round in which tests are asked, as it goes for requests and WebSockets alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from attrs import define

from trafficmock.core import error_messages
from trafficmock.core.claims import to_be_asked
from trafficmock.core.lifecycle import PendingRequest, Socket
from trafficmock.wire.outbound import ProxyError

if TYPE_CHECKING:
    from trafficmock.core.claims import Claim, Claimant, Claims
    from trafficmock.core.effects import EffectList
    from trafficmock.core.registry import Kind, RegisteredTest, Registry, Verdicts
    from trafficmock.core.settings import Settings
    from trafficmock.core.timers import Alarm
    from trafficmock.wire.inbound import Message
    from trafficmock.wire.outbound import ErrorCode
    from trafficmock.wire.serialized_matcher import RouteMatchDiagnostic

S = TypeVar("S", PendingRequest, Socket)


@define
class Routing(ABC, Generic[S]):
    """Finds the test that owns a request or WebSocket; a kind says what then happens."""

    kind: ClassVar[Kind]

    settings: Settings
    registry: Registry
    claims: Claims
    alarm: Alarm

    @abstractmethod
    def _find(self, subject_id: str) -> S: ...

    @abstractmethod
    def _claiming(self, subject: S) -> Message:
        """Go on to the stage of asking, and write the question."""

    @abstractmethod
    def _pass_through(self, subject: S, out: EffectList) -> None: ...

    @abstractmethod
    def _match(self, subject: S, claimant: Claimant, out: EffectList) -> None: ...

    @abstractmethod
    def fail(
        self,
        subject: S,
        code: ErrorCode,
        text: str,
        out: EffectList,
        *,
        matches: list[RouteMatchDiagnostic] | None = None,
    ) -> None:
        """Fail what nobody can decide about."""

    def claimed(self, claim: Claim, out: EffectList) -> None:
        """Act on a round in which everybody has answered."""
        subject = self._find(claim.subject_id)
        subject.claim = None
        self._decide(subject, claim.claimants(self.registry), out)

    def claim_expired(self, claim: Claim, out: EffectList) -> None:
        """Act on a round whose time is up."""
        subject = self._find(claim.subject_id)
        milliseconds = round(self.settings.claim_timeout * 1000)
        text = error_messages.claim_timeout(str(subject), milliseconds, claim.waiting.values())
        self.fail(subject, "claim_timeout", text, out)

    def _find_owner(self, subject: S, url: str, method: str, out: EffectList) -> None:
        if self.settings.ownership == "always-ask":
            judgement = self.registry.everybody(self.kind)
        else:
            judgement = self.registry.judge(self.kind, url, method, subject.client_id)
        if judgement is None:
            self._pass_through(subject, out)
            return
        asked = to_be_asked(self.kind, judgement)
        if asked:
            self._ask(subject, judgement, asked, out)
        else:
            self._decide(subject, list(judgement.yes.values()), out)

    def _ask(
        self, subject: S, judgement: Verdicts, asked: dict[str, RegisteredTest], out: EffectList
    ) -> None:
        question = self._claiming(subject)
        subject.claim = self.claims.begin(
            self.kind,
            subject.id,
            sequence=self.registry.sequence,
            deadline=out.now.seconds + self.settings.claim_timeout,
            asked=asked,
            judgement=judgement,
        )
        workers = tuple({test.worker.id: None for test in asked.values()})
        out.send_all(workers, question)
        self.alarm.need(subject.claim.deadline, out)

    def _decide(self, subject: S, claimants: list[Claimant], out: EffectList) -> None:
        if not claimants:
            self._pass_through(subject, out)
        elif len(claimants) == 1:
            self._match(subject, claimants[0], out)
        else:
            self._ambiguous(subject, claimants, out)

    def _ambiguous(self, subject: S, claimants: list[Claimant], out: EffectList) -> None:
        matches = [route.diagnostic(test) for test, routes in claimants for route in routes]
        text = error_messages.ambiguous(str(subject), claimants)
        self.fail(subject, "ambiguous_route", text, out, matches=matches)
        for test, _ in claimants:
            out.send(test.worker.id, ProxyError("ambiguous_route", text, test.id, matches))
