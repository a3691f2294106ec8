"""What is remembered of each stage and event of a WebSocket."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import (
    NO_QUERY,
    OWNER,
    close,
    diagnostic,
    frame,
    shown,
)
from trafficmock import records
from trafficmock.history.store import History
from trafficmock.history.websocket_entry import MAX_EVENTS

BEGUN = {
    "id": "s",
    "timestamp": 10,
    "clientId": "app",
    "url": "ws://shop.test/live",
    "protocols": ["v1"],
}
OPEN = {"timestamp": 10, "direction": "system", "kind": "open", "detail": "observed"}


def begun(**settings: Any) -> History:
    history = History(**settings)
    history.record(records.SocketSeen("s", "app", "ws://shop.test/live", ["v1"]), 10)
    return history


class StageTests(SynchronousTestCase):
    """What becomes of a connection (protocol 3)."""

    maxDiff = None

    def test_pending(self) -> None:
        """A WebSocket that waits for its decision shows nothing but itself."""
        self.assertEqual(
            shown(begun().sockets.get("s")), BEGUN | {"outcome": "pending", "events": [OPEN]}
        )

    def test_matched(self) -> None:
        """A matched WebSocket names its test."""
        history = begun()
        history.record(records.SocketOwned("s", OWNER), 12)
        event = {"timestamp": 12, "direction": "system", "kind": "handler", "detail": "matched"}
        self.assertEqual(
            shown(history.sockets.get("s")),
            BEGUN
            | {
                "outcome": "matched",
                "title": "pays by card",
                "path": "tests/pay.spec.ts",
                "testId": "test-1",
                "routeId": "route-1",
                "events": [event, OPEN],
            },
        )

    def test_passthrough(self) -> None:
        """A WebSocket that nobody wants says so."""
        history = begun()
        history.record(records.SocketPassedThrough("s"), 12)
        event = {
            "timestamp": 12,
            "direction": "system",
            "kind": "handler",
            "detail": "passthrough",
        }
        self.assertEqual(
            shown(history.sockets.get("s")),
            BEGUN | {"outcome": "passthrough", "events": [event, OPEN]},
        )

    def test_failed(self) -> None:
        """A failed WebSocket shows code, message and claimants."""
        history = begun()
        history.record(
            records.SocketFailed("s", None, "ambiguous_route", "two", [diagnostic()]), 12
        )
        entry = shown(history.sockets.get("s"))
        self.assertEqual(
            (entry["outcome"], entry["errorCode"], entry["errorMessage"]),
            ("error", "ambiguous_route", "two"),
        )
        self.assertEqual(entry["matches"][0]["title"], "pays by cash")
        self.assertEqual(
            entry["events"][0],
            {"timestamp": 12, "direction": "system", "kind": "error", "detail": "two"},
        )

    def test_open_socket_fails(self) -> None:
        """A matched WebSocket whose worker is lost becomes an error and keeps its owner."""
        history = begun()
        history.record(records.SocketOwned("s", OWNER), 12)
        history.record(records.SocketFailed("s", OWNER, "disconnected", "gone", None), 13)
        entry = shown(history.sockets.get("s"))
        self.assertEqual((entry["outcome"], entry["testId"]), ("error", "test-1"))

    def test_closed_socket_does_not_fail(self) -> None:
        """A closed WebSocket is not changed by what happens to its worker later."""
        history = begun()
        history.record(records.SocketOwned("s", OWNER), 12)
        close(history, "page", 13, code=1000)
        before = shown(history.sockets.get("s"))
        history.record(records.SocketFailed("s", OWNER, "disconnected", "gone", None), 14)
        self.assertEqual(shown(history.sockets.get("s")), before)

    def test_the_first_decision_stays(self) -> None:
        """A decision about a WebSocket that was decided already changes nothing."""
        history = begun()
        history.record(records.SocketPassedThrough("s"), 12)
        before = shown(history.sockets.get("s"))
        history.record(records.SocketOwned("s", OWNER), 13)
        history.record(records.SocketPassedThrough("s"), 13)
        self.assertEqual(shown(history.sockets.get("s")), before)

    def test_unknown_ids(self) -> None:
        """News of a WebSocket that is not remembered changes nothing."""
        history = History()
        history.record(records.SocketOwned("s", OWNER), 1)
        history.record(records.SocketPassedThrough("s"), 1)
        history.record(records.SocketFailed("s", None, "internal", "", None), 1)
        frame(history, "hi", 1)
        close(history, "page", 1)
        self.assertEqual((len(history.sockets), history.sockets.revision), (0, 0))


class EventTests(SynchronousTestCase):
    """The timeline (protocol 3)."""

    def test_frames(self) -> None:
        """Frames and actions stand newest first, with what protocol 3 says of each."""
        history = begun()
        frame(history, "hi", 11)
        history.record(
            records.SocketActivity(
                "s",
                direction="server",
                kind="frame",
                detail="handler sendToPage",
                data="AQI=",
                is_base64=True,
            ),
            12,
        )
        history.record(records.SocketActivity("s", "system", "handler", "connect", None, None), 13)
        self.assertEqual(
            shown(history.sockets.get("s"))["events"],
            [
                {"timestamp": 13, "direction": "system", "kind": "handler", "detail": "connect"},
                {
                    "timestamp": 12,
                    "direction": "server",
                    "kind": "frame",
                    "detail": "handler sendToPage",
                    "data": "AQI=",
                    "isBase64": True,
                },
                {
                    "timestamp": 11,
                    "direction": "client",
                    "kind": "frame",
                    "data": "hi",
                    "isBase64": False,
                },
                OPEN,
            ],
        )

    def test_closes(self) -> None:
        """A close is recorded once for each side and names it; the last one is the entry's."""
        history = begun()
        for at in (20, 21):
            close(history, "page", at, code=1001, reason="bye")
        for at in (30, 31):
            close(history, "server", at, clean=False)
        entry = shown(history.sockets.get("s"))
        self.assertEqual(
            [(event["timestamp"], event["kind"], event["detail"]) for event in entry["events"]],
            [
                (30, "close", "close server"),
                (20, "close", "close page 1001 bye"),
                (10, "open", "observed"),
            ],
        )
        self.assertEqual((entry["closedAt"], entry["close"]), (30, {"wasClean": False}))

    def test_code_and_reason(self) -> None:
        """The close of the entry has the code and reason that were given."""
        history = begun()
        close(history, "page", 20, code=1001, reason="bye")
        self.assertEqual(
            shown(history.sockets.get("s"))["close"],
            {"wasClean": True, "code": 1001, "reason": "bye"},
        )

    def test_cap(self) -> None:
        """Only the newest 500 events are kept, and the bytes of the others are freed."""
        history = begun()
        for at in range(MAX_EVENTS + 100):
            frame(history, "abcd", at)
        events = shown(history.sockets.get("s"))["events"]
        self.assertEqual((len(events), events[0]["timestamp"]), (500, MAX_EVENTS + 99))
        self.assertEqual(history.sockets.budget.used, 4 * MAX_EVENTS)

    def test_empty_frame(self) -> None:
        """An empty frame is shown as one."""
        history = begun()
        frame(history, "", 11)
        self.assertEqual(shown(history.sockets.get("s"))["events"][0]["data"], "")


class CaptureTests(SynchronousTestCase):
    """The capture modes (protocol 3)."""

    def test_none(self) -> None:
        """With ``none`` nothing is remembered."""
        history = begun(capture="none")
        history.record(records.SocketOwned("s", OWNER), 11)
        frame(history, "hi", 12)
        self.assertEqual((len(history.sockets), history.sockets.budget.used), (0, 0))

    def test_handled(self) -> None:
        """With ``handled`` matched and failed ones are shown, others not, nor pending ones."""
        history = begun(capture="handled")
        self.assertEqual((history.sockets.get("s"), len(history.sockets)), (None, 0))
        history.record(records.SocketOwned("s", OWNER), 11)
        history.record(records.SocketSeen("failed", "app", "ws://x/", []), 12)
        history.record(records.SocketFailed("failed", None, "claim_timeout", "late", None), 13)
        history.record(records.SocketSeen("omitted", "app", "ws://x/", []), 14)
        history.record(records.SocketPassedThrough("omitted"), 15)
        history.record(records.SocketSeen("pending", "app", "ws://x/", []), 16)
        self.assertEqual([entry.id for entry in history.sockets.query(NO_QUERY)], ["failed", "s"])
