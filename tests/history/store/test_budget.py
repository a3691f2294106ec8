"""The bytes of bodies and frames."""

import json
from sys import getrefcount

from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import (
    OWNER,
    frame,
    quoted,
    shown,
)
from trafficmock import records
from trafficmock.history.rows import ByteBudget
from trafficmock.history.store import History
from trafficmock.wire.codec import decode
from trafficmock.wire.inbound import RequestStart
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse


class FakeHolder:
    """Remembers what was cut."""

    def __init__(self) -> None:
        self.gone: list[object] = []

    def cut(self, part: object) -> None:
        self.gone.append(part)


class ByteBudgetTests(SynchronousTestCase):
    """The budget by itself."""

    def setUp(self) -> None:
        self.holder = FakeHolder()

    def test_oldest_first(self) -> None:
        """Over the limit the oldest parts go until the rest fits."""
        budget = ByteBudget(100)
        for part in "abc":
            budget.hold(self.holder, part, 50)
        self.assertEqual((self.holder.gone, budget.used), (["a"], 100))
        budget.hold(self.holder, "d", 99)
        self.assertEqual((self.holder.gone, budget.used), (["a", "b", "c"], 99))

    def test_oversized(self) -> None:
        """A part that could never fit is not kept, and displaces no other."""
        budget = ByteBudget(100)
        budget.hold(self.holder, "a", 60)
        budget.hold(self.holder, "huge", 101)
        self.assertEqual((self.holder.gone, budget.used), (["huge"], 60))

    def test_release(self) -> None:
        """A part that was released is neither counted nor cut."""
        budget = ByteBudget(100)
        budget.hold(self.holder, "a", 60)
        budget.release("a")
        budget.release("a")
        budget.hold(self.holder, "b", 60)
        self.assertEqual((self.holder.gone, budget.used), ([], 60))

    def test_no_limit(self) -> None:
        """A limit of 0 means no limit."""
        budget = ByteBudget(0)
        budget.hold(self.holder, "a", 2**50)
        self.assertEqual((self.holder.gone, budget.used), ([], 2**50))


class TruncationTests(SynchronousTestCase):
    """What an entry says when something of it was dropped."""

    def test_bodies(self) -> None:
        """A dropped body leaves its entry, and a mark beside it, wherever it stood."""
        history = History(byte_limit=150)
        head = SerializedRequest("http://x/", "POST", {}, quoted(50))
        history.record(records.RequestSeen("r", "app", head), 1)
        history.record(
            records.RequestContinued("r", OWNER, SerializedOverrides(body_base64=quoted(50))), 2
        )
        history.record(
            records.ResponseReported("r", SerializedResponse(200, "", {}, quoted(50)), None), 3
        )
        cut = {"bodyBase64": None, "truncated": True, "bodySize": 36}
        self.assertEqual(history.requests.budget.used, 150)

        history.record(records.RequestSeen("one", "app", head), 4)
        entry = shown(history.requests.get("r"))
        self.assertEqual(
            entry["request"], {"url": "http://x/", "method": "POST", "headers": {}} | cut
        )
        self.assertNotIn("truncated", entry["outcome"]["response"])
        self.assertNotIn("truncated", entry["overrides"])

        history.record(records.RequestSeen("two", "app", head), 5)
        self.assertEqual(shown(history.requests.get("r"))["overrides"], cut)
        history.record(records.RequestSeen("three", "app", head), 6)
        answer = shown(history.requests.get("r"))["outcome"]["response"]
        self.assertEqual(answer, {"status": 200, "statusText": "", "headers": {}} | cut)
        self.assertEqual(len(history.requests), 4)

    def test_both_kinds_share(self) -> None:
        """Frames and bodies share one budget, and the oldest of both go first."""
        history = History(byte_limit=100)
        history.record(records.SocketSeen("s", "app", "ws://x/", []), 1)
        frame(history, "f" * 60, 2)
        history.record(
            records.RequestSeen("r", "app", SerializedRequest("http://x/", "PUT", {}, quoted(60))),
            3,
        )
        dropped = shown(history.sockets.get("s"))["events"][0]
        self.assertEqual(
            dropped,
            {
                "timestamp": 2,
                "direction": "client",
                "kind": "frame",
                "isBase64": False,
                "truncated": True,
            },
        )
        frame(history, "g" * 60, 4)
        self.assertTrue(shown(history.requests.get("r"))["request"]["truncated"])

    def test_drop_is_a_change(self) -> None:
        """A dropped body makes a new revision, so that no reader keeps the old answer."""
        history = History(byte_limit=80)
        history.record(
            records.RequestSeen("r", "app", SerializedRequest("http://x/", "PUT", {}, quoted(60))),
            3,
        )
        entry = history.requests.get("r")
        assert entry is not None
        before, _ = entry.revision, entry.to_json()
        history.record(
            records.RequestSeen("s", "app", SerializedRequest("http://x/", "PUT", {}, quoted(60))),
            3,
        )
        self.assertGreater(entry.revision, before)
        self.assertTrue(json.loads(entry.to_json())["request"]["truncated"])

    def test_a_message_is_not_kept_alive(self) -> None:
        """A body is copied out of its message, or else the whole message would stay."""
        payload = bytes(
            b'{"type":"request:start","requestId":"r","clientId":"c","request":{"url":"http://x/",'
            b'"method":"PUT","headers":{"a":"b"},"bodyBase64":"' + b"A" * 5000 + b'"}}'
        )
        before = getrefcount(payload)
        message = decode(payload)
        assert isinstance(message, RequestStart)
        self.assertGreater(getrefcount(payload), before)
        history = History()
        history.record(records.RequestSeen("r", "app", message.request), 3)
        del message
        self.assertEqual(getrefcount(payload), before)
