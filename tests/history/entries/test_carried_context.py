"""What is remembered of traffic with a test's context."""

import json
from typing import Any

from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, ids, request, response, shown
from trafficmock import records
from trafficmock.history.query import Query
from trafficmock.history.store import History
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher, ShownRoute

CARRIED = records.CarriedContext("test-7", "sells a book", "tests/sell.py", late=False)
NAMES = {
    "testId": "test-7",
    "title": "sells a book",
    "path": "tests/sell.py",
    "hasContext": True,
}


def seen(**settings: Any) -> History:
    """Remember a request and a WebSocket that were made for a test."""
    history = History(**settings)
    history.record(records.RequestSeen("r", "app", request(), carried=CARRIED), 10)
    history.record(records.SocketSeen("s", "app", "ws://shop.test/", [], carried=CARRIED), 10)
    return history


def part(whole: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: whole[key] for key in keys if key in whole}


class CarriedContextTests(SynchronousTestCase):
    """The test whose context it carries is named, whoever gets it."""

    KEYS = (*NAMES, "routeId", "late", "alsoMatched")

    def both(self, history: History) -> list[dict[str, Any]]:
        """Show what is told of the test of the request and of the WebSocket."""
        entries = (history.requests.get("r"), history.sockets.get("s"))
        return [part(shown(entry), *self.KEYS) for entry in entries]

    def test_pending(self) -> None:
        """From the beginning."""
        self.assertEqual(self.both(seen()), [NAMES, NAMES])

    def test_passed(self) -> None:
        """Also when nobody wanted it, with the routes of others that match."""
        history = seen()
        history.record(records.RequestPassedThrough("r", ("route-1", "route-2")), 11)
        history.record(records.SocketPassedThrough("s", ("route-1",)), 11)
        self.assertEqual(
            self.both(history),
            [NAMES | {"alsoMatched": ["route-1", "route-2"]}, NAMES | {"alsoMatched": ["route-1"]}],
        )
        self.assertIn(b'"alsoMatched":["route-1","route-2"]', self.summary(history))
        self.assertEqual([e.id for e in history.requests.query(Query(test_id="test-7"))], ["r"])
        self.assertEqual([e.id for e in history.requests.query(Query(unowned=True))], [])

    def test_many_routes(self) -> None:
        """Five of the routes of others are kept."""
        history = seen()
        many = tuple(f"route-{number}" for number in range(9))
        history.record(records.RequestPassedThrough("r", many), 11)
        self.assertEqual(shown(history.requests.get("r"))["alsoMatched"], [*many[:5]])

    @staticmethod
    def summary(history: History) -> bytes:
        entry = history.requests.get("r")
        assert entry is not None
        return entry.summary_json()

    def test_late(self) -> None:
        """What was made for a test that had ended says so, and can be asked for."""
        history = seen()
        late = structs.replace(CARRIED, late=True)
        history.record(records.RequestSeen("later", "app", request(), carried=late), 12)
        entry = history.requests.get("later")
        self.assertEqual(part(shown(entry), *self.KEYS), NAMES | {"late": True})
        self.assertEqual([e.id for e in history.requests.query(Query(late=True))], ["later"])

    def test_late_and_owned(self) -> None:
        """What the only running test got is that one's, and names the ended test."""
        history = History()
        late = structs.replace(CARRIED, late=True)
        owner = records.Owner("test-8", "route-8", "sells", "sells.py")
        same = structs.replace(owner, test_id="test-7")
        for request_id, of_test in (("r", owner), ("same", same)):
            history.record(records.RequestSeen(request_id, "app", request(), carried=late), 10)
            history.record(records.RequestFulfilled(request_id, of_test, response()), 11)
        told = shown(history.requests.get("r"))
        names = {"testId": "test-8", "title": "sells", "path": "sells.py", "late": True}
        self.assertEqual(part(told, *names), names)
        self.assertEqual(told["lateOf"], NAMES["title"])
        self.assertNotIn("hasContext", told)
        self.assertEqual(told["outcome"]["testId"], "test-8")
        self.assertEqual([e.id for e in history.requests.query(Query(test_id="test-8"))], ["r"])
        again = shown(history.requests.get("same"))
        self.assertEqual((again["title"], again["hasContext"]), (NAMES["title"], True))

    def test_mixed_up(self) -> None:
        """A doubt about the context is kept with the routes of others, whatever became of it."""
        history = seen()
        doubt = records.LostContext("It carries the context of another test.", "Bind it.")
        history.record(records.ContextMixedUp("r", doubt, ("route-1",)), 11)
        failed = records.RequestFailed("r", None, "unmatched_request", "refused", None)
        history.record(failed, 12)
        told = shown(history.requests.get("r"))
        self.assertEqual(told["mixed"], {"how": doubt.how, "remedy": doubt.remedy})
        self.assertEqual(told["alsoMatched"], ["route-1"])
        history.record(records.ContextMixedUp("gone", doubt, ()), 13)

    def test_others_ran(self) -> None:
        """What a test got by its URL alone, while others ran, has their number."""
        history = History()
        history.record(records.RequestSeen("r", "app", request()), 10)
        owner = structs.replace(OWNER, other_tests=3)
        history.record(records.RequestFulfilled("r", owner, response()), 11)
        self.assertEqual(shown(history.requests.get("r"))["otherTests"], 3)
        self.assertIn(b'"otherTests":3', self.summary(history))

    def test_shared_routes(self) -> None:
        """Where routes decide that the worker's tests share, it stays its test's."""
        history = seen()
        history.record(records.RequestFulfilled("r", OWNER, response()), 11)
        history.record(records.SocketOwned("s", OWNER), 11)
        expected = NAMES | {"routeId": OWNER.route_id}
        self.assertEqual(self.both(history), [expected, expected])

    def test_route(self) -> None:
        """An entry has what its owner's route matches, and the place of the route if known."""
        for place in ("tests/pay.spec.ts:12", UNSET):
            history = seen()
            route = ShownRoute(SerializedMatcher(url_glob="**/pay"), place)
            owner = structs.replace(OWNER, route=route)
            history.record(records.RequestFulfilled("r", owner, response()), 11)
            history.record(records.SocketOwned("s", owner), 11)
            expected: dict[str, Any] = {"matcher": {"urlGlob": "**/pay"}}
            if place is not UNSET:
                expected["place"] = place
            for entry in (history.requests.get("r"), history.sockets.get("s")):
                assert entry is not None
                self.assertEqual(shown(entry)["route"], expected)
                self.assertEqual(json.loads(entry.summary_json())["route"], expected)

    def test_hop(self) -> None:
        """A hop is its chain's test's."""
        history = seen()
        history.record(records.RequestPassedThrough("r"), 11)
        hop = records.HopSeen("hop", "app", request(), "r", "passthrough", None, carried=CARRIED)
        history.record(hop, 12)
        self.assertEqual(part(shown(history.requests.get("hop")), *self.KEYS), NAMES)

    def test_handled_only(self) -> None:
        """Where only handled traffic is kept, what passed through is not."""
        history = seen(capture="handled")
        history.record(records.RequestPassedThrough("r", ("route-1",)), 11)
        history.record(records.SocketPassedThrough("s", ("route-1",)), 11)
        self.assertEqual((ids(history), list(history.sockets.query(Query()))), ([], []))
