"""Spans of WebSockets."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.telemetry.fakes import OWNER, Harness
from tests.telemetry.messages import attributes, span_of
from trafficmock import records
from trafficmock.telemetry import websocket_spans

SEEN = records.SocketSeen("s1", "shop", "wss://chat.test/room", [])


def frame(direction: Any, data: str, *, is_base64: bool = False) -> records.SocketActivity:
    return records.SocketActivity("s1", direction, "frame", None, data, is_base64)


def closed(side: Any) -> records.SocketClosed:
    return records.SocketClosed("s1", side, 1000, "", was_clean=True)


class SocketSpanTests(SynchronousTestCase):
    """Each WebSocket becomes one span, with its messages as events."""

    def setUp(self) -> None:
        self.harness = Harness()

    def span(self, *told: Any) -> tuple[Any, dict[str, Any]]:
        """Let records come that end one WebSocket; return its span and attributes."""
        self.harness.record(*told)
        (message,) = self.harness.written()
        span = span_of(message)
        return span, attributes(span.attributes)

    def test_messages(self) -> None:
        """A message is an event with sender and size, and without its content."""
        owned = records.SocketOwned("s1", OWNER)
        frames = frame("client", "hello"), frame("server", "AAECAw==", is_base64=True)
        span, found = self.span(SEEN, owned, *frames, closed("server"), closed("page"))
        self.assertEqual(span.name, "GET")
        self.assertEqual(found["network.protocol.name"], "websocket")
        self.assertEqual((found["server.address"], found["server.port"]), ("chat.test", 443))
        self.assertEqual(found["trafficmock.decision"], "matched")
        self.assertEqual(found["test.case.name"], "pays")
        events = [attributes(event.attributes) for event in span.events]
        self.assertEqual(
            events,
            [
                {"trafficmock.direction": "client", "trafficmock.size": 5},
                {"trafficmock.direction": "server", "trafficmock.size": 6},
            ],
        )

    def test_bound_of_messages(self) -> None:
        """The first messages are kept, the others counted."""
        frames = [frame("client", "x")] * 5
        span, _ = self.span(SEEN, records.SocketPassedThrough("s1"), *frames, closed("page"))
        self.assertEqual((len(span.events), span.dropped_events_count), (3, 2))

    def test_failed(self) -> None:
        """A failure ends the WebSocket, with its code."""
        failed = records.SocketFailed("s1", None, "claim_timeout", "No answer.", None)
        span, found = self.span(SEEN, failed)
        self.assertEqual(
            (found["error.type"], span.status.message), ("claim_timeout", "No answer.")
        )
        self.assertEqual(found["trafficmock.decision"], "error")

    def test_unknown(self) -> None:
        """Records of unknown WebSockets change nothing."""
        self.harness.record(
            records.SocketOwned("s1", OWNER),
            records.SocketPassedThrough("s1"),
            records.SocketFailed("s1", None, "x", "y", None),
            frame("client", "x"),
            closed("page"),
        )
        self.assertEqual(self.harness.written(), [])

    def test_bound(self) -> None:
        """The oldest WebSocket is exported as it is when too many are open, or at the same id."""
        self.patch(websocket_spans, "MOST_OPEN", 1)
        other = records.SocketSeen("s2", "shop", "ws://other.test/", [])
        _, found = self.span(SEEN, other)
        self.assertEqual(found["trafficmock.request.id"], "s1")
        _, found = self.span(records.SocketSeen("s2", "shop", "ws://other.test/", []))
        self.assertEqual(found["trafficmock.request.id"], "s2")
