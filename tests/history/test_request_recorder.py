"""What is remembered of each stage of a request."""

from itertools import product

from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, fill, ids, request, response, shown
from tests.history.decisions import BEGUN, DECISIONS, OBSERVED, begun
from trafficmock import records
from trafficmock.history.request_entry import MAX_EVENTS
from trafficmock.history.store import History
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedError


class StageTests(SynchronousTestCase):
    """The table of stages (protocol 3)."""

    maxDiff = None

    def test_pending(self) -> None:
        """A request that waits for its decision shows nothing but itself."""
        self.assertEqual(
            shown(begun().requests.get("r")),
            BEGUN | {"outcome": {"kind": "pending"}, "action": "pending", "events": [OBSERVED]},
        )

    def test_decisions(self) -> None:
        """Each decision sets outcome, action, owner, duration and event as protocol 3 says."""
        for name, decide, outcome, action, others, event in DECISIONS:
            with self.subTest(name):
                history = begun()
                decide(history)
                decided = {
                    "outcome": outcome,
                    "action": action,
                    "durationMs": 5,
                    "events": [OBSERVED, {"timestamp": 15} | event],
                }
                self.assertEqual(shown(history.requests.get("r")), BEGUN | decided | others)

    def test_the_first_decision_stays(self) -> None:
        """A decision about a request that was decided already changes nothing."""
        for first, then in product(DECISIONS, DECISIONS):
            with self.subTest(f"{first[0]}, then {then[0]}"):
                history = begun()
                first[1](history)
                before = shown(history.requests.get("r"))
                then[1](history)
                self.assertEqual(shown(history.requests.get("r")), before)

    def test_a_clock_set_back(self) -> None:
        """A duration is never negative."""
        history = begun()
        history.record(records.RequestPassedThrough("r"), 3)
        self.assertEqual(shown(history.requests.get("r"))["durationMs"], 0)

    def test_unknown_ids(self) -> None:
        """News of a request that is not remembered changes nothing."""
        history = History()
        for _name, decide, *_ in DECISIONS:
            decide(history)
        history.record(records.ResponseReported("r", response(), None), 20)
        self.assertEqual((ids(history), history.requests.revision), ([], 0))


class ReportTests(SynchronousTestCase):
    """What comes from upstream after passthrough or continue."""

    def test_response(self) -> None:
        """A response is attached to the outcome and the duration is written anew."""
        history = begun()
        history.record(records.RequestPassedThrough("r"), 15)
        history.record(records.ResponseReported("r", response(404, "Not Found"), None), 40)
        entry = shown(history.requests.get("r"))
        self.assertEqual(entry["outcome"]["response"]["status"], 404)
        self.assertEqual(entry["outcome"]["kind"], "passthrough")
        self.assertEqual(entry["durationMs"], 30)
        self.assertEqual(
            entry["events"][2], {"timestamp": 40, "kind": "response", "detail": "404 Not Found"}
        )

    def test_repeated_response(self) -> None:
        """A later response takes the place of an earlier one, its bytes too."""
        history = begun()
        history.record(records.RequestContinued("r", OWNER, None), 15)
        history.record(records.ResponseReported("r", response(content=b"x" * 900), None), 40)
        history.record(records.ResponseReported("r", response(content=b"second"), None), 50)
        entry = shown(history.requests.get("r"))
        self.assertEqual(entry["outcome"]["response"]["bodyBase64"], "c2Vjb25k")
        self.assertEqual(history.requests.budget.used, len(b"body") + len(b"second"))

    def test_failure(self) -> None:
        """A failed upstream leaves the outcome as it is and says why in the timeline."""
        history = begun()
        history.record(records.RequestContinued("r", OWNER, None), 15)
        history.record(
            records.ResponseReported("r", None, SerializedError("Error", "connect ECONNREFUSED")),
            40,
        )
        entry = shown(history.requests.get("r"))
        self.assertEqual(entry["outcome"], {"kind": "continued"})
        self.assertEqual(entry["durationMs"], 30)
        self.assertEqual(entry["events"][2]["kind"], "upstream_error")
        self.assertEqual(entry["events"][2]["detail"], "connect ECONNREFUSED")

    def test_only_after_passthrough_or_continue(self) -> None:
        """A report about a request that was not sent upstream is ignored."""
        for name, decide, _outcome, action, *_ in DECISIONS:
            if action in {"continue", "passthrough"}:
                continue
            with self.subTest(name):
                history = begun()
                decide(history)
                before = shown(history.requests.get("r"))
                history.record(records.ResponseReported("r", response(500), None), 40)
                self.assertEqual(shown(history.requests.get("r")), before)

    def test_events_are_bounded(self) -> None:
        """An agent that repeats itself cannot fill the memory; the newest event is kept."""
        history = begun()
        history.record(records.RequestPassedThrough("r"), 15)
        for at in range(3 * MAX_EVENTS):
            history.record(records.ResponseReported("r", response(), None), at)
        events = shown(history.requests.get("r"))["events"]
        self.assertEqual((len(events), events[0]), (MAX_EVENTS, OBSERVED))
        self.assertEqual(events[-1]["timestamp"], 3 * MAX_EVENTS - 1)


class HopTests(SynchronousTestCase):
    """Redirects that an agent follows by itself."""

    def test_links(self) -> None:
        """A hop has the fate and the owner of its chain, and is linked both ways."""
        history = begun()
        history.record(records.RequestContinued("r", OWNER, SerializedOverrides(method="PUT")), 15)
        history.record(records.ResponseReported("r", response(302), None), 20)
        history.record(
            records.HopSeen("hop", "app", request("http://shop.test/2"), "r", "continue", OWNER), 30
        )
        hop = shown(history.requests.get("hop"))
        self.assertEqual(hop["outcome"], {"kind": "continued"})
        self.assertEqual((hop["action"], hop["testId"]), ("continue", "test-1"))
        self.assertEqual(hop["redirectedFromId"], "r")
        self.assertEqual(
            hop["events"], [{"timestamp": 30, "kind": "observed", "detail": "redirect hop"}]
        )
        self.assertNotIn("overrides", hop)
        self.assertNotIn("durationMs", hop)
        self.assertEqual(shown(history.requests.get("r"))["redirectedToId"], "hop")
        history.record(records.ResponseReported("hop", response(), None), 35)
        self.assertEqual(shown(history.requests.get("hop"))["durationMs"], 5)

    def test_forgotten_prior(self) -> None:
        """A hop is remembered, without a link, when the one before no longer is."""
        history = begun(http_limit=1)
        history.record(records.RequestPassedThrough("r"), 15)
        fill(history, "other")
        history.record(records.HopSeen("hop", "app", request(), "r", "passthrough", None), 30)
        self.assertNotIn("redirectedFromId", shown(history.requests.get("hop")))

    def test_prior_with_the_same_id(self) -> None:
        """A hop that names itself as the one before is linked to nothing."""
        history = begun()
        history.record(records.RequestPassedThrough("r"), 15)
        history.record(records.HopSeen("r", "app", request(), "r", "passthrough", None), 30)
        self.assertNotIn("redirectedFromId", shown(history.requests.get("r")))
        self.assertNotIn("redirectedToId", shown(history.requests.get("r")))

    def test_failing_hop(self) -> None:
        """A failure that is reported for a redirected request is the last hop's."""
        history = begun()
        history.record(records.RequestPassedThrough("r"), 15)
        history.record(records.ResponseReported("r", response(302), None), 20)
        history.record(records.HopSeen("h1", "app", request(), "r", "passthrough", None), 30)
        history.record(records.ResponseReported("h1", response(302), None), 31)
        history.record(records.HopSeen("h2", "app", request(), "h1", "passthrough", None), 32)
        history.record(records.ResponseReported("r", None, SerializedError("Error", "reset")), 33)
        self.assertEqual(shown(history.requests.get("h2"))["events"][-1]["detail"], "reset")
        self.assertEqual(shown(history.requests.get("r"))["events"][-1]["kind"], "response")

    def test_followed_by_the_application(self) -> None:
        """A request of the same client that follows a redirect is linked, of another it is not."""
        for client_id, linked in (("app", True), ("other", False)):
            history = begun()
            history.record(records.RequestPassedThrough("r"), 15)
            history.record(records.ResponseReported("r", response(302), None), 20)
            history.record(records.RequestSeen("n", client_id, request(), redirected_from="r"), 30)
            entry, prior = shown(history.requests.get("n")), shown(history.requests.get("r"))
            self.assertEqual(entry["action"], "pending")
            self.assertEqual(entry.get("redirectedFromId") == "r", linked)
            self.assertEqual(prior.get("redirectedToId") == "n", linked)


class GivenUpTests(SynchronousTestCase):
    """Requests that the application gave up on their way."""

    ABORTED = SerializedError("Error", "client closed", code="aborted")

    def test_before_the_answer(self) -> None:
        """Without a response it is aborted."""
        history = begun()
        history.record(records.RequestPassedThrough("r"), 15)
        history.record(records.ResponseReported("r", None, self.ABORTED), 20)
        entry = shown(history.requests.get("r"))
        self.assertEqual(entry["outcome"], {"kind": "aborted", "errorCode": "aborted"})
        self.assertEqual(entry["action"], "abort")
        self.assertEqual(entry["events"][-1]["kind"], "abort")

    def test_within_the_answer(self) -> None:
        """With some of a response it stays what was decided, and the timeline says so."""
        history = begun()
        history.record(records.RequestPassedThrough("r"), 15)
        history.record(records.ResponseReported("r", response(200), self.ABORTED), 20)
        entry = shown(history.requests.get("r"))
        self.assertEqual(entry["outcome"]["kind"], "passthrough")
        self.assertEqual(entry["events"][-1]["detail"], "client closed")
