"""A replay of a HAR: what becomes of requests that it cannot answer, and what is said of them."""

import json
import traceback
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness, entry, kept
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.har.har_routes import HarOptions, route_from_har
from trafficmock.testing.session.traffic_report import traffic
from trafficmock.wire.inbound import HandlerResult

SECRET = "Basic c2tfbGl2"
AUTHORIZATION = [{"name": "authorization", "value": SECRET}]


def recorded(url: str = URL, method: str = "POST", sent: str = "", **response: Any) -> Any:
    """Make an entry with secrets in it."""
    body = {"text": sent} if sent else None
    request = {"method": method, "url": url, "headers": AUTHORIZATION, "postData": body}
    answer = {"status": 200, "headers": AUTHORIZATION, "content": {"text": SECRET}, **response}
    return {"request": request, "response": answer}


class ReplayTests(SynchronousTestCase):
    """``route_from_har``."""

    def replay(self, *entries: Any, content: bytes = b"", **more: Any) -> SessionHarness:
        """Let a test replay these entries, and the application send a request."""
        self.path = Path(self.mktemp())
        self.path.write_text(json.dumps({"log": {"entries": entries}}))
        harness = SessionHarness()
        options = HarOptions(store=HarFile(self.path))
        route_from_har(harness.session, options, "test_shop.py:12")
        harness.take()
        harness.matched(**{"method": "POST", "content": content, **more})
        return harness

    def error(self, *entries: Any) -> str:
        """Give the text of the error of a replay, with all that a report of it has."""
        (error,) = self.replay(*entries).session.errors
        self.assertNotIn("\n", str(error))
        text = "".join(traceback.format_exception(error))
        self.assertNotIn(SECRET, text)
        self.assertLess(len(str(error)), 400)
        return text

    def test_bad_entries(self) -> None:
        """An error has file, entry and field, in one line and without what is in the file."""
        cases = {
            "response.status: ": recorded(status=SECRET),
            "response.headers[0].name: ": recorded(headers=[{"name": 1, "value": SECRET}]),
            "response.headers[0]: ": recorded(headers=[{"value": SECRET}]),
            "response.headers: ": recorded(headers=SECRET),
            "response.content: ": recorded(content=[SECRET]),
            "response.content.text: it is not base64": recorded(
                content={"text": SECRET + "x", "encoding": "base64"}
            ),
            "request.postData.text: ": recorded(sent=SECRET.split()),  # type: ignore[arg-type]
        }
        for field, wrong in cases.items():
            with self.subTest(field):
                text = self.error(recorded(URL + "other"), None, wrong)
                self.assertIn(f"{self.path}, entry 3 (POST {URL}): {field}", text)
                self.assertIn(f"in handler of the HAR {self.path} (test_shop.py:12)", text)

    def test_other_entries(self) -> None:
        """An entry that no request needs may have any form."""
        harness = self.replay(recorded(URL + "other", status="x"), {}, recorded())
        self.assertEqual(harness.results(), [("r1", "Fulfill")])

    def test_recorded_failures(self) -> None:
        """What failed when it was recorded fails again, in the same way if that is known."""
        for text, code in (
            ("getaddrinfo ENOTFOUND api.example", "namenotresolved"),
            ("DNS lookup failed: no results", "namenotresolved"),
            ("connect ECONNREFUSED 192.0.2.1:443", "connectionrefused"),
            ("Connection was refused by other side: 111", "connectionrefused"),
            ("read ECONNRESET", "connectionreset"),
            ("Timeout 30000ms exceeded: timed out", "timedout"),
            ("something else", "failed"),
            (None, "failed"),
        ):
            with self.subTest(text):
                harness = self.replay(recorded(status=-1, _failureText=text))
                (sent,) = [each for each in harness.take() if isinstance(each, HandlerResult)]
                self.assertEqual(getattr(sent.result, "error_code", None), code)
                self.assertEqual(harness.session.errors, [])

    def near(self, *entries: Any, **asked: Any) -> str:
        """Give what the report says of a request that the HAR does not have."""
        harness = self.replay(*entries, **asked)
        harness.entries = [entry(1, "a", "aborted")]
        text: str = kept(_reported(harness))
        self.assertNotIn(SECRET, text)
        return text

    def test_another_body(self) -> None:
        """The report names the entry with the same URL and another body, without the bodies."""
        text = self.near(
            recorded(URL + "?a=1"), recorded(sent=SECRET), content=SECRET.upper().encode()
        )
        self.assertIn(
            f"abort: {self.path} has no such request; its entry 2 has another body: "
            "14 bytes, not 14; they differ from byte 1",
            text,
        )

    def test_another_method_or_query(self) -> None:
        """So it does of other entries with the URL."""
        self.assertIn("entry 1 has the method POST", self.near(recorded(), method="PUT"))
        self.assertIn("entry 1 has another query", self.near(recorded(URL + "?a=1")))
        self.assertIn("has no such request", self.near(recorded(URL + "other")))


def _reported(harness: SessionHarness) -> Any:
    promise = traffic(harness.session)
    harness.acknowledge()
    harness.acknowledge()
    return promise
