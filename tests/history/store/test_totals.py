"""What is counted since the start: nothing that the history drops or does not keep is lost."""

from itertools import product
from typing import get_args

from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, request, response
from tests.history.decisions import DECISIONS, begun
from trafficmock import records
from trafficmock.history.rest_records import Totals
from trafficmock.history.store import Capture, History
from trafficmock.wire.payloads.serialized_response import SerializedError


def passed(history: History, number: int) -> None:
    """Let requests pass through, each decided before the next."""
    for each in range(number):
        history.record(records.RequestSeen(f"p{each}", "app", request()), 1)
        history.record(records.RequestPassedThrough(f"p{each}"), 2)


def mocked(history: History, number: int) -> None:
    for each in range(number):
        history.record(records.RequestSeen(f"m{each}", "app", request()), 3)
        history.record(records.RequestFulfilled(f"m{each}", OWNER, response()), 4)


def totals(total: int, recorded: int, dropped: int, **decisions: int) -> Totals:
    """Make the counts of requests to one host."""
    return Totals(total, decisions, recorded, dropped, {"shop.test": decisions})


class RequestTests(SynchronousTestCase):
    """Counts of requests."""

    def test_dropped(self) -> None:
        """A request that the history dropped counts all the same."""
        history = History(http_limit=10)
        passed(history, 1)
        mocked(history, 1000)
        self.assertEqual(
            history.summary().requests,
            totals(1001, 10, 991, passthrough=1, fulfill=1000),
        )

    def test_capture(self) -> None:
        """So does one that ``--history-capture`` leaves out."""
        for capture, recorded in (("all", 5), ("handled", 2), ("none", 0)):
            with self.subTest(capture):
                history = History(capture=capture)  # type: ignore[arg-type]
                passed(history, 3)
                mocked(history, 2)
                self.assertEqual(
                    history.summary().requests,
                    totals(5, recorded, 0, passthrough=3, fulfill=2),
                )
        self.assertEqual(set(get_args(Capture)), {"all", "handled", "none"})

    def test_dropped_before_the_decision(self) -> None:
        """It counts when it is decided, if the history has dropped it before."""
        history = History(http_limit=2)
        for each in range(5):
            history.record(records.RequestSeen(f"r{each}", "app", request()), 1)
        for each in range(5):
            history.record(records.RequestAborted(f"r{each}", OWNER, "failed", ""), 2)
        self.assertEqual(history.summary().requests, totals(5, 2, 3, abort=5))

    def test_one_decision_each(self) -> None:
        """Each decision counts once; a second one does not."""
        for first, then in product(DECISIONS, DECISIONS):
            with self.subTest(f"{first[0]}, then {then[0]}"):
                history = begun()
                first[1](history)
                then[1](history)
                self.assertEqual(history.summary().requests.decisions, {first[3]: 1})

    def test_given_up(self) -> None:
        """A request that left counts as passed, also if the application gave it up later."""
        history = History()
        passed(history, 1)
        error = SerializedError("AbortError", "gone", code="aborted")
        history.record(records.ResponseReported("p0", None, error), 5)
        entry = history.requests.get("p0")
        assert entry is not None
        self.assertEqual(entry.action, "abort")
        self.assertEqual(history.summary().requests.decisions, {"passthrough": 1})

    def test_hops(self) -> None:
        """Each hop of a redirect counts by its action."""
        history = History(capture="none")
        passed(history, 1)
        hop = records.HopSeen("h", "app", request(), "p0", "passthrough", None)
        history.record(hop, 5)
        self.assertEqual(history.summary().requests, totals(2, 0, 0, passthrough=2))


class SocketTests(SynchronousTestCase):
    """Counts of WebSockets."""

    def test_decisions(self) -> None:
        """They are counted in the same way."""
        for capture in ("all", "handled", "none"):
            with self.subTest(capture):
                history = History(capture=capture, socket_limit=2)
                for each in ("passed", "owned", "failed"):
                    history.record(records.SocketSeen(each, "app", "ws://h/", []), 1)
                history.record(records.SocketPassedThrough("passed"), 2)
                history.record(records.SocketOwned("owned", OWNER), 2)
                totals = history.summary().web_sockets
                self.assertEqual(totals.decisions, {"passthrough": 1, "matched": 1})
                self.assertEqual(totals.total, 3)
