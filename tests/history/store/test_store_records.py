"""How a history is made, and what it keeps."""

import json
from typing import Any, get_args

from twisted.trial.unittest import SynchronousTestCase

from trafficmock import records
from trafficmock.history.query import Query
from trafficmock.history.store import DEFAULT_BYTES, History
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

OWNER = records.Owner("t", "r", "buys", "a.spec.ts")
REQUEST = SerializedRequest("http://h.test/a", "GET", {}, body.NULL)
RESPONSE = SerializedResponse(302, "Found", {"location": "/b"}, body.NULL)
SEEN = records.RequestSeen("q", "shop", REQUEST)
SOCKET_SEEN = records.SocketSeen("s", "shop", "ws://h.test/", ["chat"])


class RecorderTests(SynchronousTestCase):
    """Each kind of record leaves its trace, stamped with the time it is given."""

    def setUp(self) -> None:
        self.history = History()

    def after(self, *written: records.Record) -> dict[str, Any]:
        """Write records 10 ms apart; give the newest request or socket."""
        for number, record in enumerate(written):
            self.history.record(record, 1000 + 10 * number)
        rows: Any = self.history.requests
        if isinstance(written[0], records.SocketSeen):
            rows = self.history.sockets
        entry: dict[str, Any] = json.loads(next(iter(rows.query(Query()))).to_json())
        return entry

    def test_every_kind(self) -> None:
        """There is a writer for every kind of record of the core that counts or is kept."""
        of_traffic = set(get_args(records.Record)) - {records.TestEnded}
        self.assertEqual(self.history.writers.keys(), of_traffic)

    def test_seen(self) -> None:
        """A request is pending, with its time and client."""
        entry = self.after(SEEN)
        self.assertEqual(
            (entry["id"], entry["clientId"], entry["timestamp"], entry["action"]),
            ("q", "shop", 1000, "pending"),
        )

    def test_decisions(self) -> None:
        """A decision settles it, with the time it took and its owner."""
        decisions: list[tuple[records.Record, str, str | None]] = [
            (records.RequestPassedThrough("q"), "passthrough", None),
            (
                records.RequestContinued("q", OWNER, SerializedOverrides(method="PUT")),
                "continue",
                "buys",
            ),
            (records.RequestFulfilled("q", OWNER, RESPONSE), "fulfill", "buys"),
            (records.RequestAborted("q", OWNER, "timedout", ""), "abort", "buys"),
            (records.RequestFailed("q", None, "claim_timeout", "late", None), "error", None),
        ]
        for record, action, title in decisions:
            self.setUp()
            entry = self.after(SEEN, record)
            found = entry["action"], entry.get("title"), entry["durationMs"]
            self.assertEqual(found, (action, title, 10))

    def test_aborted_by_fault(self) -> None:
        """A fault is an event of its own; it is no error that a handler raised."""
        reset = records.RequestAborted("q", OWNER, "connectionreset", "the fault x", by_fault=True)
        entry = self.after(SEEN, reset)
        events = [(each["kind"], each.get("detail")) for each in entry["events"][1:]]
        self.assertEqual(events, [("abort", "connectionreset"), ("broken_off", "the fault x")])

    def test_reports(self) -> None:
        """A report is attached, and a failure is logged."""
        passed = records.RequestPassedThrough("q")
        answered = self.after(SEEN, passed, records.ResponseReported("q", RESPONSE, None))
        self.assertEqual(answered["outcome"]["response"]["status"], 302)
        self.setUp()
        error = SerializedError("Error", "refused")
        failed = self.after(SEEN, passed, records.ResponseReported("q", None, error))
        self.assertEqual(failed["events"][-1]["kind"], "upstream_error")

    def test_hop(self) -> None:
        """A hop is linked to the one before."""
        hop = records.HopSeen("q2", "shop", REQUEST, "q", "passthrough", None)
        entry = self.after(SEEN, records.RequestPassedThrough("q"), hop)
        self.assertEqual((entry["id"], entry["redirectedFromId"]), ("q2", "q"))

    def test_sockets(self) -> None:
        """A WebSocket's outcome, events and closes are kept."""
        matched = records.SocketOwned("s", OWNER)
        frame = records.SocketActivity("s", "client", "frame", None, "hi", is_base64=False)
        closed = records.SocketClosed("s", "page", 1000, "bye", was_clean=True)
        entry = self.after(SOCKET_SEEN, matched, frame, closed)
        self.assertEqual((entry["outcome"], entry["title"]), ("matched", "buys"))
        kinds = [event["kind"] for event in entry["events"]]
        self.assertEqual(kinds, ["close", "frame", "handler", "open"])
        self.assertEqual((entry["close"]["code"], entry["closedAt"]), (1000, 1030))

    def test_socket_outcomes(self) -> None:
        """A WebSocket that nobody wants, or that fails, says so."""
        passed = self.after(SOCKET_SEEN, records.SocketPassedThrough("s"))
        self.assertEqual(passed["outcome"], "passthrough")
        self.setUp()
        failed = records.SocketFailed("s", OWNER, "disconnected", "gone", None)
        entry = self.after(SOCKET_SEEN, failed)
        self.assertEqual((entry["outcome"], entry["errorCode"]), ("error", "disconnected"))


class DefaultsTests(SynchronousTestCase):
    """What holds unless options say otherwise."""

    def test_defaults(self) -> None:
        """Unasked, all is captured: 1000 requests, 200 WebSockets, 128 MiB."""
        history = History()
        self.assertEqual(history.capture, "all")
        self.assertEqual((history.requests.limit, history.sockets.limit), (1000, 200))
        self.assertEqual(history.requests.budget.limit, 128 * 2**20)
        self.assertEqual(DEFAULT_BYTES, 128 * 2**20)

    def test_one_budget(self) -> None:
        """Requests and WebSockets share one budget."""
        history = History(byte_limit=7)
        self.assertIs(history.requests.budget, history.sockets.budget)
        self.assertEqual(history.requests.budget.limit, 7)
