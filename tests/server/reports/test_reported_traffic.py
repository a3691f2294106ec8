"""What the report of a run gets of the history."""

import json
from base64 import b64encode
from typing import Any

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock import records
from trafficmock.core.effects import AnswerReport
from trafficmock.history.store import History
from trafficmock.records import Owner
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.reports import reported_traffic
from trafficmock.server.reports.reported_traffic import report_steps
from trafficmock.server.reports.slow_work import SlowWork
from trafficmock.wire.codec import encode
from trafficmock.wire.inbound import ReportQuery
from trafficmock.wire.outbound import ReportResult
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic, SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

OWNER = Owner("t1", "r1", "buys", "a.py")


class ReportTests(SynchronousTestCase):
    """Which entries there are, and how much of them."""

    def setUp(self) -> None:
        self.history = History()

    def request(self, name: str, content: bytes = b"") -> None:
        raw = body.from_bytes(content) if content else body.NULL
        request = SerializedRequest(f"http://h.test/{name}", "POST", {}, raw)
        self.history.record(records.RequestSeen(name, "shop", request), 1000 + len(name))

    def fulfill(self, name: str, content: bytes) -> None:
        response = SerializedResponse(200, "OK", {}, body.from_bytes(content))
        self.history.record(records.RequestFulfilled(name, OWNER, response), 2000)

    def asked(
        self, test_id: Any = UNSET, most: int = 1000, since: Any = UNSET, **more: Any
    ) -> dict[str, Any]:
        query = ReportQuery("q", most, test_id, since, **more)
        effect = AnswerReport("c", query)
        *steps, answer = report_steps(
            self.history, effect, service="s", redactor=Redactor(key=b"k" * 16)
        )
        self.assertTrue(all(each is None or isinstance(each, SlowWork) for each in steps))
        assert isinstance(answer, ReportResult)
        message: dict[str, Any] = json.loads(encode(answer))
        self.assertEqual((message["queryId"], message["service"]), ("q", "s"))
        return message

    def ids(self, **asked: Any) -> list[str]:
        return [entry["id"] for entry in self.asked(**asked)["entries"]]

    def test_whose(self) -> None:
        """A test has what it owned; without a test there is what nobody owned, oldest first."""
        for name in ("a", "bb", "ccc"):
            self.request(name)
        self.fulfill("bb", b"x")
        self.assertEqual(self.ids(test_id="t1"), ["bb"])
        self.assertEqual(self.ids(), ["a", "ccc"])
        self.assertEqual(self.ids(since=1002), ["ccc"])
        self.assertEqual(self.ids(test_id="t2"), [])

    def test_gone(self) -> None:
        """It says how many entries of the test the history has dropped, and what it never keeps."""
        self.history = History(http_limit=2)
        for name in ("a", "bb", "ccc"):
            self.request(name)
            self.fulfill(name, b"x")
        self.assertIn(" 1 of its older requests", self.asked(test_id="t1")["missing"])
        self.assertEqual((self.asked(test_id="t2")["missing"], self.asked()["missing"]), ("", ""))
        self.history = History(capture="handled")
        self.assertIn("keeps only: handled", self.asked(test_id="t1")["missing"])

    def test_ambiguous(self) -> None:
        """A request that several tests had a route for is in the report of each."""
        self.request("a")
        matches = [
            RouteMatchDiagnostic(f"r{test}", test, test, "a.py", "0", SerializedMatcher())
            for test in ("t1", "t2")
        ]
        failed = records.RequestFailed("a", None, "ambiguous_route", "two", matches)
        self.history.record(failed, 2000)
        self.assertEqual((self.ids(test_id="t1"), self.ids(test_id="t2")), (["a"], ["a"]))
        self.assertEqual((self.ids(test_id="t3"), self.ids()), ([], []))

    def test_cut(self) -> None:
        """Bodies beyond the limit are cut and say so; the HAR does not have them at all."""
        self.request("a", b"q" * 10)
        self.fulfill("a", b"r" * 30)
        answer = self.asked("t1", 10)
        (entry,) = answer["entries"]
        self.assertEqual(entry["request"]["bodyBase64"], b64encode(b"q" * 10).decode())
        self.assertNotIn("truncated", entry["request"])
        response = entry["outcome"]["response"]
        self.assertEqual(response["bodyBase64"], b64encode(b"r" * 10).decode())
        self.assertEqual((response["truncated"], response["bodySize"]), (True, 30))
        (exchange,) = answer["har"]["log"]["entries"]
        content = exchange["response"]["content"]
        self.assertEqual(content["size"], 30)
        self.assertEqual(content["comment"], reported_traffic.CUT)
        self.assertNotIn("text", content)

    def test_sockets(self) -> None:
        """WebSockets are there with their frames; long ones are marked."""
        self.history.record(records.SocketSeen("w", "shop", "ws://h.test/", []), 1000)
        self.history.record(records.SocketOwned("w", OWNER), 1001)
        for text in ("short", "l" * 300):
            frame = records.SocketActivity("w", "client", "frame", None, text, is_base64=False)
            self.history.record(frame, 1002)
        (socket,) = self.asked("t1", 200)["connections"]
        frames = [each for each in socket["events"] if each["kind"] == "frame"]
        told = sorted((each.get("data", ""), each.get("truncated", False)) for each in frames)
        self.assertEqual(told, [("", True), ("short", False)])

    def test_bounded(self) -> None:
        """Beyond the limit of an answer older entries are left out, and counted."""
        for name in ("a", "bb", "ccc"):
            self.request(name, b"x" * 2000)
        self.patch(reported_traffic, "MOST_BYTES", 9000)
        answer = self.asked(most=5000)
        self.assertEqual([each["id"] for each in answer["entries"]], ["ccc"])
        self.assertEqual(answer["omitted"], 2)

    def test_secrets(self) -> None:
        """Secrets are marks in all parts of an answer, equal ones for equal secrets."""
        head = {"authorization": "Bearer s3cret-t0ken-0f-a-user", "x-mine": "my-own"}
        request = SerializedRequest(
            "http://h.test/?token=s3cret-t0ken-0f-a-user", "GET", head, body.NULL
        )
        self.history.record(records.RequestSeen("a", "shop", request), 1000)
        texts = ["assert 'Bearer s3cret-t0ken-0f-a-user' is None"]
        answer = self.asked(texts=texts, redact=["header:x-mine"])
        said = json.dumps(answer)
        self.assertNotIn("s3cret", said)
        self.assertNotIn("my-own", said)
        (entry,) = answer["entries"]
        mark = entry["request"]["headers"]["authorization"].removeprefix("Bearer ")
        self.assertIn(mark, entry["request"]["url"].replace("%3A", ":"))
        self.assertIn(mark, answer["texts"][0])
        self.assertIn("s3cret", json.dumps(self.asked(redact=["off"])))

    def test_no_field(self) -> None:
        """A word that is no field is an error, and nothing goes out with fewer marks than asked."""
        self.request("a", b"x")
        answer = self.asked(redact=["header:x-mine", "heder:x-other"], texts=["an error"])
        self.assertIn("redact: 'heder:x-other' is none of", answer["error"])
        self.assertEqual((answer["entries"], answer["texts"]), ([], []))
        self.assertEqual(answer["har"]["log"]["entries"], [])

    def test_coded(self) -> None:
        """Of a body that is coded and too long nothing is kept: it cannot be searched."""
        head = {"content-encoding": "br"}
        request = SerializedRequest("http://h.test/", "POST", head, body.from_bytes(b"x" * 30))
        self.history.record(records.RequestSeen("a", "shop", request), 1000)
        (entry,) = self.asked(most=10)["entries"]
        self.assertIsNone(entry["request"]["bodyBase64"])
        self.assertEqual(entry["request"]["bodySize"], 30)

    def test_totals(self) -> None:
        """The counts are those of the worker that asks, and of no test."""
        self.history.tally.joined("c")
        self.request("a")
        self.history.record(records.RequestPassedThrough("a"), 1500)
        counts = self.asked("t1")["counts"]
        self.assertEqual(counts["worker"], "c")
        self.assertEqual(counts["tests"]["requests"]["decisions"], {})
        self.assertEqual(counts["unowned"]["requests"]["decisions"], {"passthrough": 1})
