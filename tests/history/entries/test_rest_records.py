"""The JSON of records."""

import json

from hypothesis import given
from msgspec import Raw, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import (
    OWNER,
    close,
    frame,
    request,
    response,
)
from tests.history.store.test_store import REQUESTS
from trafficmock import records
from trafficmock.history.rest_records import (
    BODY_HERE,
    HttpEvent,
    encode,
    encode_around,
)
from trafficmock.history.store import History
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest

LONE = "\ud83d"


class EncodeTests(SynchronousTestCase):
    """Writing records."""

    def test_bodies_are_put_in(self) -> None:
        """Bodies stand where the record has room for them, and are not copied."""
        text = b'"AAAA"'
        chunks = encode_around(
            SerializedRequest("u", "GET", {"nul": "\0"}, BODY_HERE), [(text, b"")]
        )
        self.assertIs(chunks[1], text)
        self.assertEqual(
            json.loads(b"".join(chunks)),
            {"url": "u", "method": "GET", "headers": {"nul": "\0"}, "bodyBase64": "AAAA"},
        )

    def test_lone_surrogates(self) -> None:
        """Half of a character, which JavaScript allows anywhere, travels as an escape."""
        head = SerializedRequest(LONE, "GET", {LONE: LONE}, BODY_HERE, [(LONE, LONE)])
        text = b"".join(encode_around(head, [(b'"AAAA"', b"")]))
        self.assertEqual(
            json.loads(text),
            {
                "url": LONE,
                "method": "GET",
                "headers": {LONE: LONE},
                "bodyBase64": "AAAA",
                "headersList": [[LONE, LONE]],
            },
        )
        self.assertTrue(text.isascii())

    def test_absent_keys(self) -> None:
        """Absent keys stay absent beside a lone surrogate."""
        self.assertEqual(
            json.loads(encode(HttpEvent(LONE, 1, "k"))), {"id": LONE, "timestamp": 1, "kind": "k"}
        )
        self.assertEqual(json.loads(encode(SerializedOverrides(url=LONE))), {"url": LONE})
        self.assertEqual(
            json.loads(encode(SerializedOverrides(url=LONE, body_base64=body.NULL))),
            {"url": LONE, "bodyBase64": None},
        )

    @given(REQUESTS)
    def test_anything(self, made: SerializedRequest) -> None:
        """Whatever a record holds is what a reader gets."""
        whole = json.loads(
            b"".join(
                encode_around(
                    SerializedRequest(
                        made.url, made.method, made.headers, BODY_HERE, made.headers_list
                    ),
                    [(body.to_text(made.body_base64), b"")],
                )
            )
        )
        self.assertEqual((whole["url"], whole["headers"]), (made.url, made.headers))
        self.assertEqual(whole["bodyBase64"], json.loads(body.to_text(made.body_base64)))


class SummaryTests(SynchronousTestCase):
    """The short form of lists."""

    maxDiff = None

    def test_request(self) -> None:
        """A summary is the entry without bodies, headers and events."""
        history = History()
        asked = request("http://x/", "POST", content=b"b", headers={"a": "b"}, pairs=[("a", "b")])
        history.record(records.RequestSeen("r", "app", asked), 1)
        overrides = SerializedOverrides(
            "http://y/", "PUT", {"c": "d"}, Raw(b'"AAAA"'), [("c", "d")]
        )
        history.record(records.RequestContinued("r", OWNER, overrides), 3)
        history.record(
            records.ResponseReported("r", response(201, "Created", content=b"x"), None), 5
        )
        history.record(records.HopSeen("hop", "app", request(), "r", "continue", OWNER), 6)
        entry = history.requests.get("r")
        assert entry is not None
        whole = json.loads(entry.to_json())
        del whole["events"]
        del whole["request"]["bodyBase64"], whole["request"]["headers"]
        del whole["request"]["headersList"]
        del whole["outcome"]["response"]["bodyBase64"], whole["outcome"]["response"]["headers"]
        whole["overrides"] = {"url": "http://y/", "method": "PUT"}
        whole["outcome"]["response"]["bodySize"] = 1
        self.assertEqual(json.loads(entry.summary_json()), whole)

    def test_body(self) -> None:
        """A summary says what a response's body is: its type, and its size as far as known."""
        history = History()
        long = {"Content-Type": "text/" + "x" * 300}
        for name, answer, pending, size in [
            ("none", response(204), False, {"bodySize": 0}),
            ("some", response(content=b"abc"), False, {"bodySize": 3}),
            ("arriving", response(), True, {}),
        ]:
            history.record(records.RequestSeen(name, "app", request()), 1)
            history.record(records.RequestPassedThrough(name), 2)
            typed = structs.replace(answer, headers=long)
            history.record(records.ResponseReported(name, typed, None, body_pending=pending), 5)
            entry = history.requests.get(name)
            assert entry is not None
            shown = json.loads(entry.summary_json())["outcome"]["response"]
            self.assertEqual(shown["contentType"], f"text/{'x' * 195}")
            self.assertEqual({k: v for k, v in shown.items() if k == "bodySize"}, size, name)

    def test_headers_list(self) -> None:
        """Ordered header lines are shown where the wire had them."""
        history = History()
        pairs = [("A", "1"), ("A", "2")]
        history.record(records.RequestSeen("r", "app", request(pairs=pairs)), 1)
        history.record(records.RequestFulfilled("r", OWNER, response(pairs=pairs)), 2)
        entry = history.requests.get("r")
        assert entry is not None
        whole = json.loads(entry.to_json())
        listed = [["A", "1"], ["A", "2"]]
        self.assertEqual(whole["request"]["headersList"], listed)
        self.assertEqual(whole["outcome"]["response"]["headersList"], listed)

    def test_socket(self) -> None:
        """The summary of a WebSocket is the entry without its events."""
        history = History()
        history.record(records.SocketSeen("s", "app", "ws://x/", ["v1"]), 1)
        frame(history, "x", 2)
        close(history, "page", 3, code=1000, reason="")
        entry = history.sockets.get("s")
        assert entry is not None
        whole = json.loads(entry.to_json())
        del whole["events"]
        self.assertEqual(json.loads(entry.summary_json()), whole)
