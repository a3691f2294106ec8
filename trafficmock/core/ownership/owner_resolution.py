"""Decides which test owns a request or a WebSocket: one, none, or several (ambiguous)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from attrs import define
from msgspec import structs

from trafficmock.core import error_messages
from trafficmock.core.ownership.ambiguity import ambiguity_text, diagnostics, late_text
from trafficmock.core.ownership.claims import claimants, to_be_asked
from trafficmock.core.ownership.contexts import narrow, only_test, without_outranked
from trafficmock.core.state.lifecycle import EndedTest, PendingRequest, Socket
from trafficmock.wire.features import CHAIN
from trafficmock.wire.outbound import UNMATCHED, ProxyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.core.effects import EffectList
    from trafficmock.core.ownership.claims import Claimant
    from trafficmock.core.ownership.refusals import Refusals
    from trafficmock.core.shared_state import SharedState
    from trafficmock.core.state.lifecycle import Claim
    from trafficmock.core.state.registered import (
        Kind,
        MatchingTests,
        RegisteredRoute,
        RegisteredTest,
    )
    from trafficmock.matching.request_content import RequestContent
    from trafficmock.wire.outbound import ErrorCode, RequestClaim, SocketClaim
    from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic

S = TypeVar("S", PendingRequest, Socket)


@define
class OwnerResolution(ABC, Generic[S]):
    """Finds the test that owns a request or a WebSocket; a subclass for each handles the result."""

    kind: ClassVar[Kind]

    state: SharedState
    refusals: Refusals

    @abstractmethod
    def _find(self, pending_id: str) -> S: ...

    @abstractmethod
    def _claiming(self, pending: S) -> RequestClaim | SocketClaim:
        """Change the stage to ``CLAIMING``, and return the claim's message."""

    def _about(
        self,
        _: S,
        question: RequestClaim | SocketClaim,
        test: RegisteredTest,
        routes: list[RegisteredRoute],
    ) -> RequestClaim | SocketClaim:
        """Return the question about those routes of a test of which the worker has functions."""
        return structs.replace(question, test_id=test.id, route_ids=[each.id for each in routes])

    @abstractmethod
    def _await_body(self, pending: S, out: EffectList) -> None:
        """Ask for the body, and find the owner when it has come."""

    @abstractmethod
    def _pass_through(self, pending: S, out: EffectList) -> None: ...

    @abstractmethod
    def _match(self, pending: S, claimant: Claimant, out: EffectList) -> None: ...

    @abstractmethod
    def fail(
        self,
        pending: S,
        code: ErrorCode,
        text: str,
        out: EffectList,
        *,
        matches: list[RouteMatchDiagnostic] | None = None,
    ) -> None:
        """Fail a request or WebSocket by an error.

        :param matches: the matching routes of an ambiguous one.
        """

    def claimed(self, claim: Claim, out: EffectList) -> None:
        """Handle a claim that all tests have answered."""
        pending = self._find(claim.pending_id)
        pending.claim = None
        self._decide(pending, claimants(claim, self.state.registry), out)

    def claim_expired(self, claim: Claim, out: EffectList) -> None:
        """Handle a claim whose deadline has passed."""
        pending = self._find(claim.pending_id)
        milliseconds = round(self.state.settings.claim_timeout * 1000)
        text = error_messages.claim_timeout(str(pending), milliseconds, claim.waiting.values())
        self.fail(pending, "claim_timeout", text, out)

    def _find_owner(
        self,
        pending: S,
        url: str,
        method: str,
        out: EffectList,
        content: Callable[[], RequestContent] | None = None,
    ) -> None:
        """Find the owner of a request or WebSocket.

        :param content: returns its parts beside the URL and the method, if those are compared.
        """
        registry = self.state.registry
        found = registry.judge(self.kind, url, method, pending.client_id, content)
        if self.state.settings.ownership == "always-ask":
            found = registry.asking_all(self.kind, found)
        pending.judged_at = registry.sequence
        test = pending.context_test
        if isinstance(test, EndedTest):
            test = only_test(registry.tests.values())
            pending.is_contested = test is None
        if test is not None:
            found, pending.also_matched = narrow(found, test, registry.run_routes.tests)
        pending.matching = found
        if found is None:
            self.unmatched(pending, out)
            return
        if found.awaiting:
            self._await_body(pending, out)
            return
        asked = to_be_asked(self.kind, found)
        if asked:
            self._ask(pending, found, asked, out)
        else:
            self._decide(pending, list(found.yes.values()), out)

    def _ask(
        self, pending: S, found: MatchingTests, asked: dict[str, RegisteredTest], out: EffectList
    ) -> None:
        question = self._claiming(pending)
        pending.only_test = self.state.strictness.only_strict_test(pending)
        pending.claim = self.state.claims.begin(
            self.kind,
            pending.id,
            sequence=self.state.registry.sequence,
            deadline=out.now.seconds + self.state.settings.claim_timeout,
            asked=asked,
            found=found,
        )
        workers: dict[str, None] = {}
        for test in asked.values():
            if CHAIN in test.worker.features:
                routes = found.open_routes.get(test.id, [])
                out.send(test.worker.id, self._about(pending, question, test, routes))
            else:
                workers[test.worker.id] = None
        if workers:
            out.send_all(tuple(workers), question)
        self.state.alarm.need(pending.claim.deadline, out)

    def _decide(self, pending: S, claimants: list[Claimant], out: EffectList) -> None:
        if len(claimants) > 1:
            claimants = without_outranked(claimants, pending.context_test)
        if not claimants:
            self.unmatched(pending, out)
        elif pending.is_contested and isinstance(pending.context_test, EndedTest):
            matches = diagnostics(claimants)
            text = late_text(str(pending), pending.context_test.carried, claimants)
            self.fail(pending, "ambiguous_route", text, out, matches=matches)
        elif len(claimants) == 1:
            self._match(pending, claimants[0], out)
        else:
            self._ambiguous(pending, claimants, out)

    def unmatched(self, pending: S, out: EffectList) -> None:
        """Let a request or WebSocket without an owner pass, unless strict mode refuses it."""
        if not self.refused(pending, pending.url, out):
            self._pass_through(pending, out)

    def refused(self, pending: S, url: str, out: EffectList) -> bool:
        """Refuse a request or WebSocket that no route matches, if strict mode does.

        :param url: the URL that it would be sent to.
        :returns: whether it must not pass: it was refused, and is settled now, or its body decides,
            with which its owner is found anew.
        """
        self.state.strictness.judged_at = out.now.seconds
        refusal = self.state.strictness.refusal(pending, url)
        if refusal is None:
            return False
        if refusal.awaits_body:
            self._await_body(pending, out)
            return True
        text, notice = self.refusals.message(self.kind, pending, refusal)
        self.fail(pending, UNMATCHED, text, out)
        if notice is not None:
            out.send(*notice)
        return True

    def _ambiguous(self, pending: S, claimants: list[Claimant], out: EffectList) -> None:
        matches = diagnostics(claimants)
        text = ambiguity_text(str(pending), pending.agent, claimants, pending.lost)
        self.fail(pending, "ambiguous_route", text, out, matches=matches)
        for test, _ in claimants:
            out.send(test.worker.id, ProxyError("ambiguous_route", text, test.id, matches))
