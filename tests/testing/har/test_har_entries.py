"""What the proxy gets of a HAR: the entries that the route needs, with their bodies."""

import json
import zipfile
from pathlib import Path
from typing import Any

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import SessionHarness, failure, kept, request, response
from trafficmock.testing.errors import RoutingError, UsageError
from trafficmock.testing.har import har_entries as har_entries_module
from trafficmock.testing.har.har_entries import har_entries
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.har.har_routes import HarOptions, route_from_har
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.traffic_report import traffic
from trafficmock.wire import inbound, outbound

A, B, C = "http://h/a", "http://h/b", "http://h/c"


def entry(url: Any = A, method: Any = "GET", **response: Any) -> dict[str, Any]:
    """Make an entry, with parts that no replay needs."""
    return {
        "time": 1,
        "request": {"url": url, "method": method, "cookies": []},
        "response": {"status": 200, "content": {"text": "x"}, **response},
    }


class EntriesTests(SynchronousTestCase):
    """The entries of a file for a route."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())
        self.path.mkdir()
        self.file = self.path / "some.har"

    def sent(self, *entries: Any, url: Any = "**", **rules: bool) -> list[Any]:
        """Give what a route for such requests sends, ``None`` for what it leaves out."""
        self.file.write_text(json.dumps({"log": {"entries": entries}}))
        made = har_entries(HarFile(self.file), make_matcher(url), **rules)
        return [json.loads(bytes(each)) for each in made]

    def urls(self, *entries: Any, url: Any = "**", **rules: bool) -> list[Any]:
        return [each and each["request"]["url"] for each in self.sent(*entries, url=url, **rules)]

    def test_odd_status(self) -> None:
        """A status is a redirect's in either way of writing, and may be anything."""
        for status, leads in ((302, True), ("302", True), ([302], False), ({}, False)):
            first = entry(status=status, headers=[{"name": "location", "value": "/b"}])
            found = self.urls(first, entry(B), url=A, leads_on=True)
            self.assertEqual(found, [A, B if leads else None])

    def test_parts(self) -> None:
        """Of an entry only what a replay reads."""
        (made,) = self.sent(entry(_failureText="why", redirectURL=""))
        self.assertEqual(
            made,
            {
                "request": {"url": A, "method": "GET"},
                "response": {"status": 200, "content": {"text": "x"}, "_failureText": "why"},
            },
        )

    def test_wanted(self) -> None:
        """Those that the route matches, each at its place; all where a predicate decides."""
        entries = (entry(B), entry(), entry(method="PUT"), None, {"request": {"url": A}})
        glob = {"url": "**/a", "method": "get", "client_id": "app"}
        self.assertEqual(self.urls(*entries, url=glob), [None, A, None, None, None])
        self.assertEqual(self.urls(*entries, url=lambda _: False), [B, A, A, None, None])
        self.assertEqual(self.urls(entry(7), entry(method=None)), [None, None])

    def test_redirects(self) -> None:
        """Where one leads on that is followed, all are sent."""
        moved = entry(status=302, headers=[{"name": "location", "value": "/b"}])
        self.assertEqual(self.urls(moved, entry(B), entry(C), url="**/a"), [A, None, None])
        follows: dict[str, Any] = {"url": "**/a", "leads_on": True}
        self.assertEqual(self.urls(moved, entry(B), entry(C), **follows), [A, B, C])
        self.assertEqual(self.urls(entry(), entry(B, status=302), **follows), [A, None])

    def test_ways_to_write_urls(self) -> None:
        """A URL is compared as agents send it, however the HAR writes it."""
        written = "HTTP://H:80/a#part"
        self.assertEqual(self.urls(entry(written), url=A), [written])
        self.assertEqual(self.urls(entry("http://h"), url="http://h/"), ["http://h"])

    def test_numbers(self) -> None:
        """A number that is too large for JavaScript does no harm; ``NaN`` is no JSON."""
        self.file.write_text(
            '{"log": {"entries": [' + json.dumps(entry(content={"size": 7})) + "]}}"
        )
        text = self.file.read_text()
        self.file.write_text(text.replace(": 7", ": 1e400"))
        (read,) = HarFile(self.file).entries()
        self.assertIsNone(read["response"]["content"]["size"])
        self.file.write_text(text.replace(": 7", ": NaN"))
        with self.assertRaisesRegex(UsageError, "is no HAR"):
            HarFile(self.file).entries()

    def test_files(self) -> None:
        """Bodies in files beside the HAR, or in the archive, go with it; others say why not."""
        (self.path / "body").write_bytes(b"\0\xff")
        entries = [entry(content={"_file": name}) for name in ("body", "../x", "missing")]
        self.file.write_text(json.dumps({"log": {"entries": entries}}))
        archive = self.path / "some.zip"
        with zipfile.ZipFile(archive, "w") as made:
            made.write(self.file, "har.har")
            made.write(self.path / "body", "body")
        for file in (self.file, archive):
            sent = har_entries(HarFile(file), make_matcher("**"))
            body, out, missing = (json.loads(bytes(each))["response"]["content"] for each in sent)
            self.assertEqual(body, {"text": "AP8=", "encoding": "base64"})
            self.assertIn("leads out of the directory", out["unreadable"])
            self.assertIn("missing", missing["unreadable"])

    def test_too_large(self) -> None:
        """What makes no message is refused, with what to do."""
        self.patch(har_entries_module, "MOST_HAR_BYTES", 200)
        self.sent(entry(), entry(B), url="**/a")
        with self.assertRaisesRegex(UsageError, "a route may have 200: give route_from_har a nar"):
            self.sent(entry(), entry(B))

    def test_lone_surrogates(self) -> None:
        """What no message can carry is replaced."""
        (made,) = self.sent(entry(content={"text": "a\ud800b"}))
        self.assertEqual(made["response"]["content"]["text"], "a?b")


class RouteTests(SynchronousTestCase):
    """What a session sends, and what it notes of what the proxy did."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())
        self.path.write_text(json.dumps({"log": {"entries": [entry()]}}))
        self.harness = SessionHarness()

    def register(self) -> inbound.RouteRegister:
        options = HarOptions(store=HarFile(self.path), not_found="fallback")
        self.registered = route_from_har(self.harness.session, options, "test.py:1")
        (message,) = [
            each for each in self.harness.link.sent if isinstance(each, inbound.RouteRegister)
        ]
        return message

    def replied(self, **more: Any) -> str:
        """Let the proxy decide by the HAR; give what the report has of it."""
        route_id = self.register().route_id
        told = outbound.RequestReplied("r1", request(A), "app", route_id, "t1", **more)
        self.harness.receive(told)
        self.assertEqual([each.handled for each in self.harness.session.http.live], [1])
        return self.harness.session.http.decisions["r1"]

    def test_sent(self) -> None:
        """The entries go with the route."""
        har = self.register().har
        assert har is not UNSET
        self.assertEqual(
            (har.name, len(har.entries), har.not_found), (str(self.path), 1, "fallback")
        )
        self.harness.acknowledge()
        kept(self.registered)

    def test_refused(self) -> None:
        """A HAR that the proxy has no room for is an error of the call, and no route."""
        harness = self.harness = SessionHarness(acknowledges=False)
        route_id = self.register().route_id
        text = "The route was not registered"
        harness.client.receive(
            outbound.ProxyError("invalid_message", text, "t1", route_id=route_id)
        )
        error = failure(self.registered)
        self.assertIsInstance(error, RoutingError)
        self.assertEqual((str(error), [*harness.session.http.live]), (text, []))

    def test_fulfilled(self) -> None:
        """The request is this test's, with the response that the proxy reports."""
        self.assertEqual(self.replied(), "fulfill")
        answer = inbound.RequestResponse("r1", ok=True, response=response(203))
        self.harness.receive(answer)
        found = self.harness.session.traffic.requests["r1"].existing()
        assert found is not None
        self.assertEqual(found.wire.status, 203)

    def test_aborted(self) -> None:
        """The report says why."""
        why = "some.har has no such request; its entry 2 has another query"
        self.assertEqual(self.replied(action="abort", message=why), f"abort: {why}")
        self.assertIsNone(self.harness.session.traffic.requests["r1"].existing())
        promise = traffic(self.harness.session)
        self.harness.acknowledge()
        self.harness.acknowledge()
        kept(promise)
        (query,) = [
            each for each in self.harness.link.sent if isinstance(each, inbound.DiagnosisQuery)
        ]
        self.assertEqual(query.decisions, {"r1": f"abort: {why}"})

    def test_fallen_back(self) -> None:
        """A request that the HAR left to others has met the route."""
        self.assertEqual(self.replied(action="fallback"), "continue")
