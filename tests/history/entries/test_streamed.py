"""Entries whose bodies come late, are cut, or never come whole."""

import json
from typing import Any

from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, request, response, shown
from trafficmock import records
from trafficmock.history.har.har_export import to_har
from trafficmock.history.request_entry import MAX_EVENTS, MAX_PIECES, RequestEntry
from trafficmock.history.store import History
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedError

HEAD = request(method="POST")
LOST = SerializedError("Error", "socket hang up", code="ECONNRESET")
ARRIVES = {"bodyBase64": None, "bodyPending": True}


class StreamedTests(SynchronousTestCase):
    """A request that passes through, with and after it its bodies."""

    def setUp(self) -> None:
        self.history = History()
        self.history.record(records.RequestSeen("r", "app", HEAD, body_pending=True), 1)

    def shown(self) -> Any:
        return shown(self.history.requests.get("r"))

    def summary(self) -> Any:
        """Give the response in the summary."""
        entry = self.history.requests.get("r")
        assert entry is not None
        return json.loads(entry.summary_json())["outcome"]["response"]

    def har(self) -> Any:
        entry = self.history.requests.get("r")
        assert entry is not None
        return to_har(entry, version="1")["log"]["entries"][0]

    def head(self) -> None:
        self.history.record(records.RequestPassedThrough("r"), 2)
        self.history.record(records.ResponseReported("r", response(), None, body_pending=True), 3)

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.shown()["events"]]

    def test_request_body(self) -> None:
        """A row is there before the body of its request, and says that this is to come."""
        self.assertEqual(self.shown()["request"] | ARRIVES, self.shown()["request"])
        before = self.history.requests.revision
        self.history.record(
            records.RequestBodyCame("r", request(method="POST", content=b"hello")), 0
        )
        sent = self.shown()["request"]
        self.assertEqual(
            (sent["bodyBase64"], set(sent) & {"bodyPending", "truncated"}), ("aGVsbG8=", set())
        )
        self.assertGreater(self.history.requests.revision, before)
        self.assertEqual(self.history.requests.budget.used, len(b"hello"))

    def test_cut_request_body(self) -> None:
        """A body that was cut shows its beginning, a mark and its true size."""
        cut = structs.replace(
            request(method="POST", content=b"hello"), truncated=True, body_size=500
        )
        self.history.record(records.RequestBodyCame("r", cut), 0)
        sent = self.shown()["request"]
        mark = {"bodyBase64": "aGVsbG8=", "truncated": True, "bodySize": 500}
        self.assertEqual(sent | mark, sent)
        self.head()
        self.assertEqual(self.har()["request"]["bodySize"], 500)
        self.assertNotIn("text", self.har()["request"]["postData"])

    def test_no_request_body(self) -> None:
        """A body that never came is marked, and its size is not known."""
        self.history.record(records.RequestBodyCame("r", structs.replace(HEAD, truncated=True)), 0)
        sent = self.shown()["request"]
        self.assertEqual(sent | {"bodyBase64": None, "truncated": True}, sent)
        self.assertFalse({"bodySize", "bodyPending"} & set(sent))

    def test_nobody(self) -> None:
        """The body of a request that is not remembered changes nothing."""
        before = self.history.requests.revision
        self.history.record(records.RequestBodyCame("x", HEAD), 0)
        self.assertEqual(self.history.requests.revision, before)

    def test_endless(self) -> None:
        """Status and headers are there while the body goes on; a HAR says that it does."""
        self.head()
        answer = self.shown()["outcome"]["response"]
        self.assertEqual(answer | ARRIVES | {"status": 200}, answer)
        self.assertTrue(self.summary()["bodyPending"])
        content = self.har()["response"]["content"]
        self.assertIn("not arrived", content["comment"])
        self.assertNotIn("text", content)

    def test_end(self) -> None:
        """The end brings the body, and the response stands once in the timeline."""
        self.head()
        self.history.record(records.ResponseReported("r", response(content=b"hello"), None), 9)
        answer = self.shown()["outcome"]["response"]
        self.assertEqual(answer["bodyBase64"], "aGVsbG8=")
        self.assertNotIn("bodyPending", answer)
        self.assertNotIn("bodyPending", self.summary())
        self.assertEqual(self.kinds(), ["observed", "passthrough", "response"])
        self.assertEqual(self.shown()["durationMs"], 8)
        self.assertEqual(self.har()["response"]["content"]["text"], "hello")

    def test_cut(self) -> None:
        """The HAR of a response that was cut has its true size, no text, and a comment."""
        self.head()
        cut = structs.replace(response(content=b"hello"), truncated=True, body_size=5000)
        self.history.record(records.ResponseReported("r", cut, None), 9)
        content = self.har()["response"]["content"]
        self.assertEqual(content["size"], 5000)
        self.assertIn("--history-body-bytes", content["comment"])
        self.assertNotIn("text", content)

    def test_broke_off(self) -> None:
        """Of a response that broke off what came is kept, and the timeline says why."""
        self.head()
        self.history.record(records.ResponseReported("r", response(content=b"hel"), LOST), 9)
        self.assertEqual(self.shown()["outcome"]["response"]["bodyBase64"], "aGVs")
        self.assertEqual(self.kinds()[-2:], ["response", "upstream_error"])
        self.assertEqual(self.shown()["events"][-1]["detail"], LOST.message)

    def test_lost(self) -> None:
        """When nothing of the body is told, the mark says that it was cut."""
        self.head()
        self.history.record(records.ResponseReported("r", None, LOST), 9)
        answer = self.shown()["outcome"]["response"]
        self.assertEqual(answer | {"bodyBase64": None, "truncated": True}, answer)
        self.assertNotIn("bodySize", answer)
        self.assertEqual(self.har()["response"]["bodySize"], -1)

    def test_budget(self) -> None:
        """The beginning of a body may go, as any body; its size stays the true one."""
        history = History(byte_limit=5)
        cut = structs.replace(request(content=b"hello"), truncated=True, body_size=500)
        history.record(records.RequestSeen("r", "app", cut), 1)
        self.assertEqual(history.requests.budget.used, 5)
        history.record(records.RequestSeen("s", "app", request(content=b"hello")), 2)
        sent = shown(history.requests.get("r"))["request"]
        mark = {"bodyBase64": None, "truncated": True, "bodySize": 500}
        self.assertEqual(sent | mark, sent)

    def test_search(self) -> None:
        """What is kept of a body can be found."""
        entry = self.history.requests.get("r")
        assert entry is not None
        cut = structs.replace(request(content=b"needle"), truncated=True, body_size=500)
        self.history.record(records.RequestBodyCame("r", cut), 0)
        self.assertIn("needle", "".join(entry.deep_texts(0)))
        self.history.record(
            records.RequestBodyCame("r", structs.replace(HEAD, body_base64=body.NULL)), 0
        )
        self.assertNotIn("needle", "".join(entry.deep_texts(0)))


class PiecesTests(SynchronousTestCase):
    """The pieces of a streamed mock."""

    def setUp(self) -> None:
        self.history = History()
        self.history.record(records.RequestSeen("r", "app", request()), 1_000)
        head = records.RequestFulfilled("r", OWNER, response(), body_pending=True)
        self.history.record(head, 1_100)

    def entry(self) -> RequestEntry:
        entry = self.history.requests.get("r")
        assert entry is not None
        return entry

    def pieces(self) -> list[Any]:
        """Give those of the HAR."""
        (exchange,) = to_har(self.entry(), version="1")["log"]["entries"]
        pieces: list[Any] = exchange["response"]["_pieces"]
        return pieces

    def test_times(self) -> None:
        """Each has its time and its size, in the HAR from the head on."""
        for at, size in ((1_100, 3), (1_350, 5)):
            self.history.record(records.StreamPieceSent("r", size), at)
        events = shown(self.entry())["events"][2:]
        told = [(event["kind"], event["timestamp"], event["size"]) for event in events]
        self.assertEqual(told, [("piece", 1_100, 3), ("piece", 1_350, 5)])
        self.assertEqual(self.pieces(), [{"time": 0, "size": 3}, {"time": 250, "size": 5}])

    def test_bounded(self) -> None:
        """Later pieces are parts of the last one, and the end is still there."""
        for at in range(MAX_PIECES + 5):
            self.history.record(records.StreamPieceSent("r", 2), at)
        self.history.record(records.StreamEnded("r", response(), None), 9_000)
        events = shown(self.entry())["events"]
        self.assertEqual(len(events), 2 + MAX_PIECES + 1)
        self.assertEqual((events[-2]["size"], events[-2]["kind"]), (12, "piece"))
        self.assertEqual(events[-1]["kind"], "end")
        self.assertEqual(sum(piece["size"] for piece in self.pieces()), 2 * (MAX_PIECES + 5))

    def test_other_events(self) -> None:
        """Pieces leave the room of other events to them."""
        for at in range(MAX_EVENTS):
            self.history.record(records.StreamPieceSent("r", 1), at)
            self.history.record(records.StreamEnded("r", response(), None), at)
        kinds = [event["kind"] for event in shown(self.entry())["events"]]
        self.assertLessEqual(len(kinds) - kinds.count("piece"), MAX_EVENTS)
        self.assertEqual(kinds[-1], "end")
