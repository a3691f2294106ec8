"""Who must be asked: ownership is decided without asking wherever that is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trafficmock.core.registry import Judgement, Kind, Test

DECLINE = "decline"
"""The feature of workers that can give a match back."""


def to_be_asked(kind: Kind, judgement: Judgement) -> dict[str, Test]:
    """Choose the tests to ask, by id; none means that the judgement stands.

    * A test that only its worker can judge is asked.
    * A WebSocket's test is always asked: a match that its fixture does not share
      would leave the application with an open, dead socket.
    * A test that matches is asked while one of its handlers is at work, because a
      ``times`` route may be expiring at this moment.
    * Whoever matches on a connection that is asked anyway is asked too: the answer
      costs nothing and is the truth.
    """
    asked = dict(judgement.undecided)
    for test_id, (test, _) in judgement.yes.items():
        if kind == "websocket" or _may_be_expiring(test):
            asked[test_id] = test
    if asked and len(asked) < len(judgement.undecided) + len(judgement.yes):
        workers = {test.worker.id for test in asked.values()}
        for test_id, (test, _) in judgement.yes.items():
            if test.worker.id in workers:
                asked[test_id] = test
    return asked


def _may_be_expiring(test: Test) -> bool:
    return bool(test.requests) and DECLINE not in test.worker.features
