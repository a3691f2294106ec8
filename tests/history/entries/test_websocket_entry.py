"""The JSON of WebSockets."""

import json
from itertools import islice
from sys import getsizeof

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import frame
from trafficmock import records
from trafficmock.history.rest_records import encode
from trafficmock.history.store import History
from trafficmock.history.websocket_entry import SocketEntry, frame_size


def remembered(*frames: str) -> tuple[History, SocketEntry]:
    history = History()
    history.record(records.SocketSeen("s", "app", "ws://x/", []), 1)
    for data in frames:
        frame(history, data, 2)
    entry = history.sockets.get("s")
    assert entry is not None
    return history, entry


class JsonTests(SynchronousTestCase):
    """One JSON text, in pieces."""

    def test_short(self) -> None:
        """The JSON of a short WebSocket is built once."""
        _, entry = remembered("a", "b")
        self.assertEqual(entry.to_json(), entry.to_json())
        text = entry.to_json()
        self.assertIs(entry.to_json(), text)

    def test_long(self) -> None:
        """The JSON of a long one is not kept, and comes in pieces of a bounded size."""
        _, entry = remembered(*["x" * 10_000] * 100)
        pieces = list(entry.chunks())
        self.assertLess(max(map(len, pieces)), 100_000)
        self.assertEqual(len(json.loads(b"".join(pieces))["events"]), 101)
        self.assertIsNone(entry._chunks)

    def test_weight(self) -> None:
        """Whatever an application chooses counts: the id, the URL and the protocols."""
        history = History()
        history.record(records.SocketSeen("id", "app", "ws://x/", ["a", "b"]), 1)
        self.assertEqual(history.sockets.weight, len("id") + len("ws://x/") + len("ab"))

    def test_changed_while_reading(self) -> None:
        """A reader that pauses gets valid JSON, and the next reader gets what is new."""
        history, entry = remembered(*["x" * 1000] * 20)
        reader = entry.chunks()
        first = b"".join(islice(reader, 1))
        frame(history, "late", 3)
        text = first + b"".join(reader)
        self.assertEqual(len(json.loads(text)["events"]), 21)
        self.assertIn(b"late", entry.to_json())

    @given(st.lists(st.text(st.characters(), max_size=3), max_size=8))
    def test_anything(self, frames: list[str]) -> None:
        """Any frames are what a reader gets, newest first."""
        _, entry = remembered(*frames)
        events = json.loads(entry.to_json())["events"]
        self.assertEqual([event["data"] for event in events[:-1]], frames[::-1])

    def test_sizes(self) -> None:
        """A frame counts the bytes that it may take, however often it was encoded."""
        self.assertEqual(frame_size("abcd"), 4)
        text = "日本語" * 50
        text.encode(), encode(text)
        self.assertGreaterEqual(frame_size(text), getsizeof(text) - getsizeof("é"))
