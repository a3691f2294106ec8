"""Claims: questions to tests whether their routes match a request or a WebSocket.

Ownership is decided without a claim if the matching routes are certain. A claim is complete when
each asked test has answered or ended; it expires after the claim timeout.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from attrs import define, field

from trafficmock.core.deadlines import Deadlines
from trafficmock.core.ownership.registry import Registry
from trafficmock.core.state.lifecycle import Claim
from trafficmock.core.state.registered import Kind, MatchingTests, RegisteredRoute, RegisteredTest
from trafficmock.wire.features import CHAIN
from trafficmock.wire.inbound import RouteMatch

Claimant = tuple["RegisteredTest", list["RegisteredRoute"]]
"""A test that matches, with its routes that do, the newest last."""


def claimants(claim: Claim, registry: Registry) -> list[Claimant]:
    """Return the matching tests with their routes, as far as these are still registered.

    Workers name the routes that match in any order.
    """
    found = []
    for test_id in claim.certain | claim.answers:
        route_ids = [*claim.certain.get(test_id, ()), *claim.answers.get(test_id, ())]
        test = registry.tests.get(test_id)
        routes = [
            route
            for route_id in dict.fromkeys(route_ids)
            if test is not None and (route := test.routes.get(route_id)) is not None
        ]
        counted = [r for r in routes if r.sequence <= claim.sequence and r.kind == claim.kind]
        if test is not None and counted:
            counted.sort(key=attrgetter("sequence"))
            found.append((test, counted))
    if len(found) > 1:
        found.sort(key=lambda claimant: claimant[1][0].sequence)
    return found


@define
class Claims:
    """The open claims, oldest first."""

    deadlines: Deadlines
    _open: dict[tuple[Kind, str], Claim] = field(factory=dict)

    def __len__(self) -> int:
        return len(self._open)

    def begin(
        self,
        kind: Kind,
        pending_id: str,
        *,
        sequence: int,
        asked: dict[str, RegisteredTest],
        found: MatchingTests,
    ) -> Claim:
        """Open a claim about a request or WebSocket.

        :param asked: the tests to ask, see :func:`.to_be_asked`.
        :param found: the tests that match, or may match.
        """
        certain = {
            test_id: [route.id for route in routes]
            for test_id, (test, routes) in found.yes.items()
            if test_id not in asked or CHAIN in test.worker.features
        }
        claim = Claim(kind, pending_id, sequence, dict(asked), certain)
        key = (kind, pending_id)
        self._open[key] = claim
        for test in asked.values():
            test.claims[key] = claim
        return claim

    def answer(
        self, kind: Kind, pending_id: str, test: RegisteredTest, matches: Iterable[RouteMatch]
    ) -> Claim | None:
        """Handle the answer of a test; later answers of the same test are ignored.

        :returns: the claim if this answer completed it.
        """
        key = (kind, pending_id)
        claim = self._open.get(key)
        if claim is None or claim.waiting.pop(test.id, None) is None:
            return None
        claim.answers[test.id] = [match.route_id for match in matches]
        del test.claims[key]
        return self._completed(claim)

    def give_up_on(self, test: RegisteredTest, claim: Claim) -> bool:
        """Count a test that has ended as one that does not match.

        :returns: whether that completed the claim.
        """
        del test.claims[claim.kind, claim.pending_id]
        del claim.waiting[test.id]
        return self._completed(claim) is not None

    def drop(self, claim: Claim) -> None:
        """Remove a claim that expired, or whose request or WebSocket is settled."""
        key = (claim.kind, claim.pending_id)
        for test in claim.waiting.values():
            del test.claims[key]
        self._close(claim)

    def _completed(self, claim: Claim) -> Claim | None:
        if claim.waiting:
            return None
        self._close(claim)
        return claim

    def _close(self, claim: Claim) -> None:
        del self._open[claim.kind, claim.pending_id]
        self.deadlines.cancel(claim.deadline)
