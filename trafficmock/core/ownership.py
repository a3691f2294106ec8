"""Who must be asked: ownership is decided without asking wherever that is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trafficmock.core.registry import Kind, RegisteredRoute, RegisteredTest, Verdicts

DECLINE = "decline"
"""The feature of workers that can give a match back."""


def to_be_asked(kind: Kind, judgement: Verdicts) -> dict[str, RegisteredTest]:
    """Choose the tests to ask, by id; none means that the judgement stands.

    * A test that only its worker can judge is asked.
    * A WebSocket's test is always asked: a match that its fixture does not share
      would leave the application with an open, dead socket.
    * A test that matches is asked while a ``times`` route that makes it match may be
      expiring; see :func:`_may_be_expiring`.
    * Whoever matches on a connection that is asked anyway is asked too: the answer
      costs nothing and is the truth.
    """
    asked = dict(judgement.undecided)
    certain = len(judgement.yes) == 1 and not asked
    for test_id, (test, routes) in judgement.yes.items():
        if kind == "websocket" or _may_be_expiring(test, routes, certain=certain):
            asked[test_id] = test
    if asked and len(asked) < len(judgement.undecided) + len(judgement.yes):
        workers = {test.worker.id for test in asked.values()}
        for test_id, (test, _) in judgement.yes.items():
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
