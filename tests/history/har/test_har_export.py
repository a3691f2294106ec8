"""HAR of one entry."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from jsonschema import Draft202012Validator
from msgspec import Raw, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, request, response
from tests.history.store.test_store import REQUESTS, RESPONSES
from trafficmock import records
from trafficmock.history.har.har_export import har_available, har_filename, to_har
from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.store import History
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

SCHEMA = Path(__file__).parents[2] / "data" / "har-1.2.schema.json"
VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text()))


def mocked(
    asked: SerializedRequest | None = None,
    answer: SerializedResponse | None = None,
    **settings: Any,
) -> RequestEntry:
    """Remember one mocked request, asked at 1000 and answered 250 ms later."""
    history = History(**settings)
    history.record(records.RequestSeen("r", "app", asked or request()), 1_000)
    history.record(records.RequestFulfilled("r", OWNER, answer or response()), 1_250)
    entry = history.requests.get("r")
    assert entry is not None
    return entry


def har_of(entry: RequestEntry) -> Any:
    """Make a valid HAR and give its only entry."""
    har = to_har(entry, version="1.2.3")
    VALIDATOR.validate(har)
    (only,) = har["log"]["entries"]
    return only


class CodingTests(SynchronousTestCase):
    """Bodies that the history has as they were coded."""

    def test_coded(self) -> None:
        """A replay is told of a coding that the body still is in; agents tell decoded bodies."""
        for content, coding in ((b"\x8b\x00\x80\xff\x03", "br"), (b"plain", None), (b"", None)):
            answer = response(content=content, headers={"content-encoding": "br"})
            found = har_of(mocked(answer=answer))["response"]["content"]
            self.assertEqual(found.get("_coding"), coding)


class AvailabilityTests(SynchronousTestCase):
    """Which entries there is a HAR of (protocol 3)."""

    def test_availability(self) -> None:
        """Mocked always; sent upstream only with a response; others never."""
        history = History()
        for name in ("pending", "abort", "error", "mocked", "sent", "answered", "failed"):
            history.record(records.RequestSeen(name, "app", request()), 0)
        history.record(records.RequestAborted("abort", OWNER, "failed", ""), 1)
        history.record(records.RequestFailed("error", None, "internal", "m", None), 1)
        history.record(records.RequestFulfilled("mocked", OWNER, response()), 1)
        history.record(records.RequestContinued("sent", OWNER, None), 1)
        history.record(records.RequestPassedThrough("answered"), 1)
        history.record(records.ResponseReported("answered", response(), None), 2)
        history.record(records.RequestPassedThrough("failed"), 1)
        history.record(
            records.ResponseReported("failed", None, SerializedError("Error", "reset")), 2
        )
        with_har = [e.id for e in history.requests._by_id.values() if har_available(e)]
        self.assertEqual(with_har, ["mocked", "answered"])

    def test_without_response(self) -> None:
        """Without a response the status is 0, and ``_error`` says why, as browsers write it."""
        history = History()
        for request_id in ("refused", "ambiguous", "reset", "pending"):
            history.record(records.RequestSeen(request_id, "app", request()), 0)
        history.record(records.RequestAborted("refused", OWNER, "connectionrefused", ""), 1)
        history.record(records.RequestFailed("ambiguous", None, "ambiguous_route", "two", []), 1)
        history.record(records.RequestPassedThrough("reset"), 1)
        gone = SerializedError("Error", "read ECONNRESET")
        history.record(records.ResponseReported("reset", None, gone), 2)
        for request_id, said in (
            ("refused", "connectionrefused"),
            ("ambiguous", "ambiguous_route: two"),
            ("reset", "read ECONNRESET"),
            ("pending", "pending"),
        ):
            entry = history.requests.get(request_id)
            assert entry is not None
            (made,) = to_har(entry, version="1")["log"]["entries"]
            self.assertEqual((made["response"]["status"], made["response"]["_error"]), (0, said))

    def test_filename(self) -> None:
        """A file name holds only safe characters, and at most 64 of the id."""
        for entry_id, expected in [
            ("a1b2", "trafficmock-a1b2.har"),
            ("../é//x y", "trafficmock-.._x_y.har"),
            ("i" * 100, "trafficmock-" + "i" * 64 + ".har"),
            ('"\r\n', "trafficmock-_.har"),
        ]:
            with self.subTest(entry_id):
                self.assertEqual(har_filename(entry_id), expected)


class HarTests(SynchronousTestCase):
    """What stands in a HAR."""

    maxDiff = None

    def test_whole(self) -> None:
        """A plain exchange gives exactly the HAR that protocol 3 describes."""
        asked = request(
            "http://x.test/p?a=1&b=&a=%C3%A9",
            "POST",
            content=b"q=1",
            headers={"content-type": "text/plain", "cookie": "sid=7"},
        )
        answer = response(302, "Found", content=b"gone", headers={"location": "/n"})
        self.assertEqual(
            to_har(mocked(asked, answer), version="1.2.3"),
            {
                "log": {
                    "version": "1.2",
                    "creator": {"name": "trafficmock", "version": "1.2.3"},
                    "entries": [
                        {
                            "startedDateTime": "1970-01-01T00:00:01.000Z",
                            "time": 250,
                            "request": {
                                "method": "POST",
                                "url": "http://x.test/p?a=1&b=&a=%C3%A9",
                                "httpVersion": "HTTP/1.1",
                                "cookies": [{"name": "sid", "value": "7"}],
                                "headers": [
                                    {"name": "content-type", "value": "text/plain"},
                                    {"name": "cookie", "value": "sid=7"},
                                ],
                                "queryString": [
                                    {"name": "a", "value": "1"},
                                    {"name": "b", "value": ""},
                                    {"name": "a", "value": "é"},
                                ],
                                "postData": {"mimeType": "text/plain", "text": "q=1"},
                                "headersSize": -1,
                                "bodySize": 3,
                            },
                            "response": {
                                "status": 302,
                                "statusText": "Found",
                                "httpVersion": "HTTP/1.1",
                                "cookies": [],
                                "headers": [{"name": "location", "value": "/n"}],
                                "content": {
                                    "size": 4,
                                    "mimeType": "application/octet-stream",
                                    "text": "gone",
                                },
                                "redirectURL": "/n",
                                "headersSize": -1,
                                "bodySize": 4,
                            },
                            "cache": {},
                            "timings": {"send": 0, "wait": 250, "receive": 0},
                        }
                    ],
                }
            },
        )

    def test_no_bodies(self) -> None:
        """Without bodies there is no postData and no text, and the sizes are 0."""
        har = har_of(mocked())
        self.assertNotIn("postData", har["request"])
        self.assertEqual(
            har["response"]["content"], {"size": 0, "mimeType": "application/octet-stream"}
        )
        self.assertEqual((har["request"]["bodySize"], har["response"]["bodySize"]), (0, 0))

    def test_bytes(self) -> None:
        """Bytes that are not UTF-8 travel as base64 and say so."""
        har = har_of(mocked(request(content=b"\xff\x00"), response(content=b"\xfe")))
        self.assertEqual(
            har["request"]["postData"],
            {"mimeType": "application/octet-stream", "text": "/wA=", "encoding": "base64"},
        )
        self.assertEqual(har["response"]["content"]["text"], "/g==")
        self.assertEqual(har["response"]["content"]["encoding"], "base64")

    def test_unclean_base64(self) -> None:
        """A body with junk in its base64 is given as its receivers decode it."""
        answer = SerializedResponse(200, "", {}, Raw(b'"aG-k.="'))
        content = har_of(mocked(answer=answer))["response"]["content"]
        self.assertEqual(content["size"], 3)
        self.assertEqual((content["text"], content["encoding"]), ("aG+k", "base64"))

    def test_cut_bodies(self) -> None:
        """A dropped body leaves its true size and a comment, and no text."""
        entry = mocked(request(content=b"a" * 30), response(content=b"b" * 50), byte_limit=20)
        har = har_of(entry)
        self.assertEqual(har["request"]["bodySize"], 30)
        self.assertEqual(har["response"]["bodySize"], 50)
        self.assertEqual(har["response"]["content"]["size"], 50)
        for part in (har["request"]["postData"], har["response"]["content"]):
            self.assertIn("byte budget", part["comment"])
            self.assertNotIn("text", part)

    def test_header_lines(self) -> None:
        """Header lines are those of the wire where it had them, repeats and case included."""
        pairs = [("Set-Cookie", "a=1"), ("X-A", "1"), ("set-cookie", "b=2; Path=/"), ("X-A", "2")]
        answer = response(headers={"set-cookie": "a=1, b=2; Path=/"}, pairs=pairs)
        har = har_of(mocked(answer=answer))["response"]
        self.assertEqual([(h["name"], h["value"]) for h in har["headers"]], pairs)
        self.assertEqual([cookie["name"] for cookie in har["cookies"]], ["a", "b"])

    def test_trailers(self) -> None:
        """Trailer fields have a field of their own; most responses have none."""
        answer = structs.replace(response(), trailers=[("X-Sum", "7")])
        har = har_of(mocked(answer=answer))["response"]
        self.assertEqual(har["_trailers"], [{"name": "X-Sum", "value": "7"}])
        self.assertNotIn("_trailers", har_of(mocked())["response"])

    def test_joined_set_cookie(self) -> None:
        """Cookies that a header map had to join are separate lines again."""
        answer = response(headers={"set-cookie": "a=1; Path=/, b=2", "x": "1, y=2"})
        self.assertEqual(
            har_of(mocked(answer=answer))["response"]["headers"],
            [
                {"name": "set-cookie", "value": "a=1; Path=/"},
                {"name": "set-cookie", "value": "b=2"},
                {"name": "x", "value": "1, y=2"},
            ],
        )

    def test_recorded_request(self) -> None:
        """The request is the application's, not what a handler made of it; types ignore case."""
        asked = request(headers={"Content-Type": "a/b"}, content=b"x")
        self.assertEqual(har_of(mocked(asked))["request"]["postData"]["mimeType"], "a/b")

    def test_odd_urls(self) -> None:
        """An address that is no URL to Python still gives its query."""
        har = har_of(mocked(request("http://[::bad/?a=b#?c=d")))
        self.assertEqual(har["request"]["queryString"], [{"name": "a", "value": "b"}])

    @given(REQUESTS, RESPONSES)
    def test_anything(self, asked: SerializedRequest, answer: SerializedResponse) -> None:
        """Whatever was recorded makes a valid HAR that can be written as JSON."""
        entry = mocked(asked, answer)
        har_of(entry)
        json.dumps(to_har(entry, version="1")).encode()
