"""The capture modes, for requests."""

from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import NO_QUERY, OWNER, ids, request, response
from tests.history.decisions import DECISIONS, begun
from trafficmock import records
from trafficmock.wire.payloads.serialized_response import SerializedError


class CaptureTests(SynchronousTestCase):
    """The capture modes (protocol 3)."""

    def test_none(self) -> None:
        """With ``none`` nothing is remembered and every call is harmless."""
        for name, decide, *_ in DECISIONS:
            with self.subTest(name):
                history = begun(capture="none")
                decide(history)
                history.record(records.HopSeen("hop", "app", request(), "r", "continue", OWNER), 30)
                self.assertEqual(ids(history), [])
                self.assertEqual(history.requests.budget.used, 0)

    def test_handled(self) -> None:
        """With ``handled`` a decided request is shown unless it passed through."""
        for name, decide, _outcome, action, *_ in DECISIONS:
            with self.subTest(name):
                history = begun(capture="handled")
                decide(history)
                self.assertEqual(ids(history), [] if action == "passthrough" else ["r"])

    def test_handled_hides_what_may_vanish(self) -> None:
        """With ``handled`` a pending request shows in no list, lookup, search or revision."""
        history = begun(capture="handled")
        self.assertEqual((ids(history), history.requests.get("r")), ([], None))
        self.assertEqual(history.requests.revision, 0)
        history.record(records.RequestPassedThrough("r"), 11)
        self.assertEqual(history.requests.revision, 0)
        self.assertEqual(history.requests.budget.used, 0)

    def test_handled_order(self) -> None:
        """With ``handled`` the order is that of the requests, not of the decisions."""
        history = begun(capture="handled")
        history.record(records.RequestSeen("later", "app", request()), 12)
        history.record(records.RequestFulfilled("later", OWNER, response()), 13)
        history.record(records.RequestFulfilled("r", OWNER, response()), 14)
        self.assertEqual(ids(history), ["later", "r"])

    def test_handled_hops(self) -> None:
        """With ``handled`` hops of a continued request stay, those of a passthrough do not."""
        history = begun(capture="handled")
        history.record(records.RequestContinued("r", OWNER, None), 12)
        history.record(records.HopSeen("kept", "app", request(), "r", "continue", OWNER), 13)
        history.record(records.HopSeen("omitted", "app", request(), "x", "passthrough", None), 14)
        self.assertEqual(ids(history), ["kept", "r"])

    def test_handled_failed_passthrough(self) -> None:
        """With ``handled`` a passthrough that fails upstream is omitted like any other."""
        history = begun(capture="handled")
        history.record(records.RequestPassedThrough("r"), 12)
        history.record(records.ResponseReported("r", None, SerializedError("Error", "reset")), 13)
        self.assertEqual(list(history.requests.query(NO_QUERY)), [])
