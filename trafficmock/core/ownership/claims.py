"""Which tests are asked whether they want a request or a socket, and the rounds of asking.

Ownership is decided without asking wherever that is certain. One mechanism serves both kinds.
A round is over when everybody who was asked has answered or is gone, or when its time is up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.wire.features import DECLINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trafficmock.core.ownership.registry import (
        Kind,
        MatchingTests,
        RegisteredRoute,
        RegisteredTest,
        Registry,
    )
    from trafficmock.wire.inbound import RouteMatch


def to_be_asked(kind: Kind, found: MatchingTests) -> dict[str, RegisteredTest]:
    """Choose the tests to ask, by id. If there are none, the matches that were found count.

    * A test that only its worker can judge is asked.
    * A test that matches a WebSocket is always asked: if its fixture did not match as well, the
      application would have an open socket that nobody answers.
    * A test that matches is asked while a ``times`` route that makes it match may be
      expiring; see :func:`_may_be_expiring`.
    * A test that matches is asked if its worker is asked anyway: its answer needs no further
      question, and it is more accurate than the match that was found.
    """
    asked = dict(found.undecided)
    certain = len(found.yes) == 1 and not asked
    for test_id, (test, routes) in found.yes.items():
        if kind == "websocket" or _may_be_expiring(test, routes, certain=certain):
            asked[test_id] = test
    if asked and len(asked) < len(found.undecided) + len(found.yes):
        workers = {test.worker.id for test in asked.values()}
        for test_id, (test, _) in found.yes.items():
            if test.worker.id in workers:
                asked[test_id] = test
    return asked


def _may_be_expiring(test: RegisteredTest, routes: list[RegisteredRoute], *, certain: bool) -> bool:
    """Tell whether a handler at work may be the last call of a ``times`` route.

    The routes that an unsettled request matches may expire through it. When this test alone
    is in question, those are all that count: should a handler rewrite its request's URL and
    fall back to a route that did not match before, and should that expire just now, then the
    fixture sends the new request on, as it would have gone anyway. Between several tests a
    mistake would be an error for both, so there every unsettled request counts.

    :param routes: the test's routes that match the new request.
    :param certain: no other test matches, or may match, the new request.
    """
    if DECLINE in test.worker.features:
        return False
    if not certain:
        return bool(test.requests)
    return any(route.id in test.busy for route in routes)


Claimant = tuple["RegisteredTest", list["RegisteredRoute"]]


@define(eq=False)
class Claim:
    """One round.

    :param sequence: routes registered later do not count.
    :param deadline: monotonic seconds.
    :param waiting: the tests that were asked and have not answered, by id.
    :param certain: matching routes of tests that need not be asked, by test id.
    """

    kind: Kind
    pending_id: str
    sequence: int
    deadline: float
    waiting: dict[str, RegisteredTest]
    certain: dict[str, list[str]]
    answers: dict[str, list[str]] = field(factory=dict)

    def claimants(self, registry: Registry) -> list[Claimant]:
        """List the tests that want it and still can have it, with their routes."""
        found = []
        for test_id, route_ids in (self.certain | self.answers).items():
            test = registry.tests.get(test_id)
            routes = [
                route
                for route_id in dict.fromkeys(route_ids)
                if test is not None and (route := test.routes.get(route_id)) is not None
            ]
            counted = [r for r in routes if r.sequence <= self.sequence and r.kind == self.kind]
            if test is not None and counted:
                found.append((test, counted))
        return sorted(found, key=lambda claimant: claimant[1][0].sequence)


@define
class Claims:
    """The rounds that are open, oldest first."""

    _open: dict[tuple[Kind, str], Claim] = field(factory=dict)

    def __len__(self) -> int:
        return len(self._open)

    def begin(
        self,
        kind: Kind,
        pending_id: str,
        *,
        sequence: int,
        deadline: float,
        asked: dict[str, RegisteredTest],
        found: MatchingTests,
    ) -> Claim:
        """Open a round about a request or socket among ``asked``."""
        certain = {
            test_id: [route.id for route in routes]
            for test_id, (_, routes) in found.yes.items()
            if test_id not in asked
        }
        claim = Claim(kind, pending_id, sequence, deadline, dict(asked), certain)
        key = (kind, pending_id)
        self._open[key] = claim
        for test in asked.values():
            test.claims[key] = claim
        return claim

    def answer(
        self, kind: Kind, pending_id: str, test: RegisteredTest, matches: Iterable[RouteMatch]
    ) -> Claim | None:
        """Take a test's answer; the first one counts.

        :returns: the round when this answer completed it.
        """
        key = (kind, pending_id)
        claim = self._open.get(key)
        if claim is None or claim.waiting.pop(test.id, None) is None:
            return None
        claim.answers[test.id] = [match.route_id for match in matches]
        del test.claims[key]
        return self._completed(claim)

    def give_up_on(self, test: RegisteredTest, claim: Claim) -> bool:
        """Count a test that is gone as one that matches nothing.

        :returns: whether that completed the round.
        """
        del test.claims[claim.kind, claim.pending_id]
        del claim.waiting[test.id]
        return self._completed(claim) is not None

    def drop(self, claim: Claim) -> None:
        """End a round whose request or socket is gone, or whose time is up."""
        key = (claim.kind, claim.pending_id)
        for test in claim.waiting.values():
            del test.claims[key]
        del self._open[key]

    def expired(self, now: float) -> Iterator[Claim]:
        """Give the rounds whose time is up; the caller drops each."""
        for claim in list(self._open.values()):
            if claim.deadline > now:
                return
            yield claim

    def next_deadline(self) -> float | None:
        """Tell when the oldest round ends; they all last equally long."""
        for claim in self._open.values():
            return claim.deadline
        return None

    def _completed(self, claim: Claim) -> Claim | None:
        if claim.waiting:
            return None
        del self._open[claim.kind, claim.pending_id]
        return claim
