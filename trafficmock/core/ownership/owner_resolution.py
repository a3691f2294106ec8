"""Decides which test owns a request or a WebSocket: one, none, or several (ambiguous).

1. The registry compares it with all routes (``registry.judge``). A test matches, does not match, or
   has a route about which only its worker can decide, such as one with a predicate. What the
   process of the tests sends to its own machine is compared with those alone that name its origin
   (:func:`elsewhere_of_own_call`): it is the test's own call to its application.
2. If it carries the context of a running test, only that test is left, with the shared routes of
   its worker and those of the run (``contexts.narrow``; its module has the other contexts). What a
   framework sends for itself is only for shared routes (``contexts.for_no_test``).
3. If a condition of a route needs the body, it waits for that, and begins anew.
4. Tests that cannot be decided without their workers are asked (:func:`to_be_asked`); with
   ``--ownership always-ask``, all tests of workers without the feature ``chain``.
5. Of the tests that match, those that others outrank are removed (:func:`without_outranked`):
   shared routes by the worker's other tests, older shared routes by newer ones, routes of the run
   by all. Shared routes of several workers that agree become one.
6. One test is left: it is the owner. None: the request passes, unless strict mode refuses it.
   Several: it is refused as ``ambiguous_route``, and each of them fails
   (:meth:`OwnerResolution._decide`).

A request with the context of an *ended* test belongs to the one running test, if there is only one
(``contexts.only_test``). Otherwise it is refused as ``ambiguous_route`` if any test matches, but no
test fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar, Generic, TypeVar

from attrs import define
from msgspec import structs

from trafficmock.core import error_messages
from trafficmock.core.effects import EffectList
from trafficmock.core.ownership.ambiguity import ambiguity_text, diagnostics, late_text
from trafficmock.core.ownership.claims import Claimant, claimants
from trafficmock.core.ownership.contexts import for_no_test, narrow, only_test
from trafficmock.core.ownership.refusals import Refusals
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import (
    Claim,
    ContextTest,
    EndedTest,
    Owned,
    PendingRequest,
    Socket,
)
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.registered import Kind, MatchingTests, RegisteredRoute, RegisteredTest
from trafficmock.matching.host_pattern import HostPattern, elsewhere
from trafficmock.matching.patterns.unix_sockets import is_unix_socket
from trafficmock.matching.request_content import RequestContent
from trafficmock.records import Owner
from trafficmock.wire.features import CHAIN
from trafficmock.wire.outbound import UNMATCHED, ErrorCode, ProxyError, RequestClaim, SocketClaim
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic

S = TypeVar("S", PendingRequest, Socket)


def elsewhere_of_own_call(agent: Agent, url: str, own_hosts: Iterable[HostPattern]) -> str | None:
    """Return the URL of a test's own call to its application, at another origin.

    A replay of all URLs, or a mock of any, would take it as well: the test would pass without an
    application.

    :returns: ``None`` for all other requests.
    """
    if not agent.runs_tests or is_unix_socket(url):
        return None
    return elsewhere(url, own_hosts)


@define
class OwnerResolution(ABC, Generic[S]):
    """Finds the test that owns a request or a WebSocket; a subclass for each handles the result.

    :param doubt: is told of what only routes of other tests match than that of its context.
    """

    kind: ClassVar[Kind]

    state: SharedState
    refusals: Refusals
    doubt: Callable[[Kind, Owned, EffectList], None]

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
        text = error_messages.claim_timeout(pending.subject, milliseconds, claim.waiting.values())
        self.fail(pending, "claim_timeout", text, out)

    def _find_owner(
        self,
        pending: S,
        url: str,
        method: str,
        out: EffectList,
        content: Callable[[S], RequestContent] | None = None,
    ) -> None:
        """Find the owner of a request or WebSocket.

        :param content: returns its parts beside the URL and the method, if those are compared.
        """
        registry, found = self.state.registry, None
        if registry.routes:
            beside = partial(content, pending) if content else None
            client_id, other = pending.client_id, pending.elsewhere
            found = registry.judge(self.kind, url, method, client_id, beside, elsewhere=other)
        if self.state.settings.ownership == "always-ask" and not is_unix_socket(url):
            found = registry.asking_all(self.kind, found)
        pending.judged_at = registry.sequence
        test = pending.context_test
        if isinstance(test, EndedTest):
            test = only_test(registry.tests.values())
            pending.is_contested = test is None
        if pending.framework is not None:
            found = for_no_test(found)
        elif test is not None:
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
        claim = pending.claim = self.state.claims.begin(
            self.kind,
            pending.id,
            sequence=self.state.registry.sequence,
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
        due = out.now.seconds + self.state.settings.claim_timeout
        claim.deadline = self.state.deadlines.add(due, partial(self.claim_expired, claim), out)

    def _decide(self, pending: S, claimants: list[Claimant], out: EffectList) -> None:
        if len(claimants) > 1:
            claimants = without_outranked(claimants, pending.context_test)
        if not claimants:
            self.unmatched(pending, out)
        elif pending.is_contested and isinstance(pending.context_test, EndedTest):
            matches = diagnostics(claimants)
            text = late_text(pending.subject, pending.context_test.carried, claimants)
            self.fail(pending, "ambiguous_route", text, out, matches=matches)
        elif len(claimants) == 1:
            self._match(pending, claimants[0], out)
        else:
            self._ambiguous(pending, claimants, out)

    def unmatched(self, pending: S, out: EffectList) -> None:
        """Let a request or WebSocket without an owner pass, unless strict mode refuses it."""
        if pending.also_matched:
            self.doubt(self.kind, pending, out)
        if not self.refused(pending, out):
            self._pass_through(pending, out)

    def refused(self, pending: S, out: EffectList, url: str | None = None) -> bool:
        """Refuse a request or WebSocket that no route matches, if strict mode does.

        :param url: the URL that it would be sent to, if not its own.
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
        text, notice = self.refusals.message(self.kind, pending, refusal, out.now)
        self.fail(pending, UNMATCHED, text, out)
        if notice is not None:
            out.send(*notice)
        return True

    def _ambiguous(self, pending: S, claimants: list[Claimant], out: EffectList) -> None:
        matches = diagnostics(claimants)
        text = ambiguity_text(pending.subject, pending.agent, claimants, pending.lost)
        self.fail(pending, "ambiguous_route", text, out, matches=matches)
        for test, _ in claimants:
            out.send(test.worker.id, ProxyError("ambiguous_route", text, test.id, matches))

    def _owner(self, pending: S, test: RegisteredTest, route: RegisteredRoute) -> Owner:
        """Return the owner of a request or WebSocket, for the history.

        Without a context it may belong to any other running test: the application has lost the
        context, if the tests send contexts at all.
        """
        other_tests = 0
        if pending.context_test is None and test.context is not None and not test.shared:
            running = self.state.contexts.running.values()
            other_tests = sum(not each.shared for each in running) - 1
        return Owner(
            test.id, route.id, test.title, test.file, route.shown, other_tests, test.shared
        )


def without_outranked(claimants: list[Claimant], test: ContextTest | None) -> list[Claimant]:
    """Remove the tests that others outrank.

    The routes of the run are outranked by all others, shared routes by the worker's other tests,
    and an older shared route by a newer one of the worker. If only shared routes of several workers
    are left that do not contradict, as of a fixture in parallel runs, the test with the oldest
    route is left.

    :param test: the test whose context the request carries, if any: its routes count as those of
        the worker's other tests, also if it is a shared one.
    """
    if of_run := [each for each in claimants if each[0].for_run]:
        if len(of_run) == len(claimants):
            return [_of_run(claimants, test)]
        claimants = [each for each in claimants if not each[0].for_run]
    newest: dict[str, Claimant] = {}  # by worker
    own = {each.worker.id for each, _ in claimants if not each.shared or each is test}
    for claimant in claimants:
        worker_id = claimant[0].worker.id
        known = newest.get(worker_id)
        if known is None or claimant[1][-1].sequence > known[1][-1].sequence:
            newest[worker_id] = claimant
    left = [
        claimant
        for claimant in claimants
        if (
            not claimant[0].shared or claimant[0] is test
            if claimant[0].worker.id in own
            else newest[claimant[0].worker.id] is claimant
        )
    ]
    if len(left) > 1 and all(each.shared for each, _ in left) and _agree(left):
        return [min(left, key=lambda claimant: claimant[1][0].sequence)]
    return left


def _of_run(claimants: list[Claimant], test: ContextTest | None) -> Claimant:
    """Return which of the copies of routes of the run decides.

    A handler runs in the worker of the test whose context the request carries, if it has the
    route; else in that of the first registration.
    """
    worker = test.worker if isinstance(test, RegisteredTest) else None

    def rank(claimant: Claimant) -> tuple[int, bool, int]:
        newest = max(claimant[1], key=_order)
        return (
            -_order(newest),
            newest.test is None or newest.test.worker is not worker,
            newest.sequence,
        )

    return min(claimants, key=rank)


def _order(route: RegisteredRoute) -> int:
    return -1 if route.run is None else route.run.order


def _agree(shared: list[Claimant]) -> bool:
    """Return whether the newest routes of several workers' shared tests do not contradict.

    Fixed responses do if they differ. A handler is that of each worker of a run.
    """
    kept = [routes[-1].answers for _, routes in shared]
    fixed = [None if answers is None else answers.response for answers in kept]
    return None in fixed or all(each == fixed[0] for each in fixed)


def to_be_asked(kind: Kind, found: MatchingTests) -> dict[str, RegisteredTest]:
    """Return the tests to ask, by id; without any, the matches in ``found`` decide.

    * A test with an undecidable route is asked.
    * A test that matches a WebSocket is always asked: if its fixture did not match too, the
      application would have an open WebSocket without a handler.
    * A test that matches is asked while its matching ``times`` route may expire, see
      :func:`_may_be_expiring`.
    * A test that matches is asked if its worker is asked anyway: that needs no further
      message, and the worker's answer is more accurate.
    * A worker with the feature ``chain`` is only asked about undecidable routes. It runs the
      handler that the coordinator names, so also a WebSocket has one, and no route of it expires
      without the coordinator.
    """
    asked = dict(found.undecided)
    certain = len(found.yes) == 1 and not asked
    for test_id, (test, routes) in found.yes.items():
        if CHAIN in test.worker.features:
            newest = routes[-1].sequence
            is_undecided = any(
                each.sequence > newest for each in found.open_routes.get(test_id, ())
            )
            if kind == "websocket" and is_undecided:
                asked[test_id] = test
        elif kind == "websocket" or (
            test.requests and _may_be_expiring(test, routes, certain=certain)
        ):
            asked[test_id] = test
    if asked:
        workers = {test.worker.id for test in asked.values()}
        for test_id, (test, _) in found.yes.items():
            if test.worker.id in workers and CHAIN not in test.worker.features:
                asked[test_id] = test
    return asked


def _may_be_expiring(test: RegisteredTest, routes: list[RegisteredRoute], *, certain: bool) -> bool:
    """Return whether a running handler may be the last call of a matching ``times`` route.

    That needs a request of the test which is not settled.

    Each unsettled request may let the routes expire that it matches. If no other test matches the
    new request, only these routes count. There is one more case: a handler changes the URL of its
    request and falls back to a route that did not match before, which then expires. In this case
    the fixture continues the new request, which is what would have happened without the route.
    With several matching tests, a wrong result would be an error for all of them, so every
    unsettled request counts.

    :param routes: the test's routes that match the new request.
    :param certain: whether no other test matches, or may match, the new request.
    """
    return not certain or any(route.id in test.busy for route in routes)
