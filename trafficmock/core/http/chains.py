"""Runs the handlers of a request's owner, one after the other (feature ``chain``).

A chain has the owner's routes that match the request, newest first, and behind them the shared
routes of its worker and those of the run. The coordinator keeps it: it counts ``times`` when a run
begins, gives replies, and goes on to the next route when a handler falls back. The worker evaluates
predicates and runs one handler at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count

from attrs import define, field
from msgspec import UNSET, UnsetType, structs

from trafficmock.core.answers.route_answers import RouteAnswers
from trafficmock.core.effects import EffectList
from trafficmock.core.http.request_changes import NO_CHANGES, merged
from trafficmock.core.ownership.claims import Claimant
from trafficmock.core.ownership.compared_content import content_of, values_for
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import Candidate, Chain, PendingRequest, context_of
from trafficmock.core.state.registered import MatchingTests, RegisteredRoute, RegisteredTest
from trafficmock.wire.changed_request import changed_request
from trafficmock.wire.inbound import RequestClaimResult
from trafficmock.wire.outbound import HandlerRun, RequestClaim, RouteExpired
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest


@define
class Chains:
    """Runs the chains of requests; :class:`.RequestRouting` settles those that are exhausted."""

    state: SharedState
    answers: RouteAnswers
    _run_ids: Iterator[int] = field(init=False, factory=lambda: count(1))

    def begin(self, pending: PendingRequest, claimant: Claimant) -> None:
        """Make the chain of a request that has an owner.

        :param claimant: the owner, and the routes of it that match.
        """
        owner, routes = claimant
        found = pending.matching or MatchingTests()
        candidates = [Candidate(route, matches=True) for route in routes]
        if owner.id not in found.undecided:
            candidates += _undecided(found, owner)
        for test in _shared_beside(owner):
            candidates += _candidates(found, test)
        pending.chain = Chain(owner, pending.request, _in_order(candidates, owner), NO_CHANGES)

    def proceed(self, pending: PendingRequest, chain: Chain, out: EffectList) -> bool:
        """Go on to the next route: run its handler, give its answer, or ask whether it matches.

        :returns: ``False`` if no route is left.
        """
        while chain.candidates:
            candidate = chain.candidates[0]
            route = candidate.route
            test = route.test
            if test is None or test.routes.get(route.id) is not route:
                chain.candidates.popleft()
            elif not candidate.matches:
                self._ask(pending, chain, out)
                return True
            else:
                chain.candidates.popleft()
                if self._run(pending, chain, route, out):
                    return True
        return False

    def judged(self, chain: Chain, message: RequestClaimResult) -> None:
        """Handle the worker's answer which of the candidates match."""
        chain.asks = False
        matching = {match.route_id for match in message.matches}
        kept: deque[Candidate] = deque()
        for candidate in chain.candidates:
            if candidate.matches or candidate.route.id in matching:
                candidate.matches = True
                kept.append(candidate)
        chain.candidates = kept

    def fall_back(
        self, pending: PendingRequest, chain: Chain, more: SerializedOverrides | UnsetType
    ) -> None:
        """End a run: add its changes, and compare the changed request with the routes left."""
        chain.run_id = None
        changes = merged(chain.changes, more)
        if changes is chain.changes:
            return
        before = chain.request
        chain.changes = changes
        chain.request = now = changed_request(pending.request, changes)
        if chain.route is None or not self._may_differ(now, before, chain):
            return
        content = partial(content_of, now, self.state.registry)
        found = self.state.registry.judge("http", now.url, now.method, pending.client_id, content)
        found = found or MatchingTests()
        tests = [chain.owner, *_shared_beside(chain.owner)]
        current = _place(chain.route, chain.owner)
        left = [
            candidate
            for test in tests
            for candidate in _candidates(found, test)
            if candidate.route.sequence <= pending.judged_at
            and _place(candidate.route, chain.owner) > current
        ]
        chain.candidates = _in_order(left, chain.owner)

    @staticmethod
    def _may_differ(now: SerializedRequest, before: SerializedRequest, chain: Chain) -> bool:
        """Return whether other routes may match a request after its change."""
        if (now.url, now.method) != (before.url, before.method):
            return True
        return any(
            route.matcher.conditions
            for test in (chain.owner, *_shared_beside(chain.owner))
            for route in test.routes.values()
        )

    def _ask(self, pending: PendingRequest, chain: Chain, out: EffectList) -> None:
        """Ask the worker about the predicates of all routes left."""
        chain.asks = True
        routes = [each.route for each in chain.candidates if not each.matches]
        content = partial(content_of, chain.request, self.state.registry)
        question = RequestClaim(
            pending.id,
            chain.request,
            pending.client_id,
            context_of(pending.context_test),
            chain.owner.id,
            [each.id for each in routes],
            values_for([each.matcher for each in routes], content),
        )
        out.send(chain.owner.worker.id, question)

    def _run(
        self, pending: PendingRequest, chain: Chain, route: RegisteredRoute, out: EffectList
    ) -> bool:
        """Have a route decide; ``False`` if it leaves the request to the next one at once."""
        chain.route = route
        if pending.owner is not None:
            pending.owner = structs.replace(pending.owner, route_id=route.id, route=route.shown)
        answered = self.answers.answer(pending, chain, route, out)
        if answered is not None:
            return answered
        worker = chain.owner.worker
        chain.run_id = run_id = str(next(self._run_ids))
        run = HandlerRun(
            pending.id,
            chain.request,
            pending.client_id,
            run_id,
            route.id,
            chain.owner.id,
            context_of(pending.context_test),
            UNSET if pending.lost is None else pending.lost.text,
        )
        out.send(worker.id, run)
        if self.state.registry.count(route):
            out.send(worker.id, RouteExpired(route.id))
        return True


def _shared_beside(owner: RegisteredTest) -> list[RegisteredTest]:
    """Return the tests of the owner's worker whose routes are shared, without the owner."""
    return [test for test in owner.worker.tests.values() if test.shared and test is not owner]


def _candidates(found: MatchingTests, test: RegisteredTest) -> list[Candidate]:
    certain = found.yes.get(test.id)
    routes = () if certain is None else certain[1]
    return [*(Candidate(route, matches=True) for route in routes), *_undecided(found, test)]


def _undecided(found: MatchingTests, test: RegisteredTest) -> list[Candidate]:
    return [Candidate(route, matches=False) for route in found.open_routes.get(test.id, ())]


def _place(route: RegisteredRoute, owner: RegisteredTest) -> tuple[bool, bool, int]:
    """Return the place of a route in a chain: the owner's, shared ones, those of the run.

    Of each the newest is the first. Each worker registers the routes of the run, perhaps in another
    order.
    """
    newest = route.sequence if route.run is None else route.run.order
    return route.test is not owner, route.run is not None, -newest


def _in_order(candidates: Iterable[Candidate], owner: RegisteredTest) -> deque[Candidate]:
    return deque(sorted(candidates, key=lambda each: _place(each.route, owner)))
