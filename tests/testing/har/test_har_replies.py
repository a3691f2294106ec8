"""What the proxy gets of a HAR is what the HAR answers, whatever else a request has."""

import base64
import json
import zipfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.testing.fakes import SessionHarness, request
from trafficmock.testing.har import har_replies
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.har.har_lookup import HarLookup, HarRequest
from trafficmock.testing.har.har_replies import replies_of
from trafficmock.testing.har.har_routes import HarOptions, route_from_har
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body

URLS = st.sampled_from(["http://h/a", "http://h/b", "http://h/c"])
METHODS = st.sampled_from(["GET", "POST", "PUT"])
LINES = st.lists(st.sampled_from([("x", "1"), ("x", "2"), ("y", "1")]), max_size=3)
BODIES = st.sampled_from(["", "one", "two"])


def entry(
    url: Any = "http://h/a",
    method: Any = "GET",
    *,
    lines: Any = (),
    sent: str = "",
    status: Any = 200,
    location: str = "",
    content: Any = None,
) -> dict[str, Any]:
    """Make an entry."""
    headers = [{"name": "Location", "value": location}] if location else []
    return {
        "request": {
            "url": url,
            "method": method,
            "headers": [{"name": name, "value": value} for name, value in lines],
            "postData": {"text": sent},
        },
        "response": {"status": status, "headers": headers, "content": content or {}},
    }


entries = st.builds(
    entry,
    URLS,
    METHODS,
    lines=LINES,
    sent=BODIES,
    status=st.sampled_from([200, 200, 302, 303, 307, 204, 99, -1]),
    location=st.sampled_from(["", "/a", "/b", "http://h/c"]),
    content=st.builds(lambda text: {"text": text}, st.sampled_from(["p", "q", "r"])),
)


class NoFiles:
    """A HAR without files."""

    def size(self, name: str) -> int:
        raise FileNotFoundError(name)


def replies(*recorded: Any, url: Any = "**", files: Any = None) -> dict[tuple[str, str], Any]:
    """Give what the proxy gets of such a HAR."""
    lookup = HarLookup(recorded, lambda name: Path(name).read_bytes())
    return replies_of(lookup, make_matcher(url), files or NoFiles())


class SameAnswerTests(SynchronousTestCase):
    """An answer of the proxy is the one that the test's process would give."""

    @profile(300)
    @given(st.lists(entries, max_size=6), LINES, BODIES)
    def test_any_request(self, recorded: list[Any], lines: Any, sent: str) -> None:
        """Other headers and another body change nothing; what they would change is missing."""
        lookup = HarLookup(recorded, lambda _: b"")
        for (method, url), reply in replies(*recorded).items():
            found = lookup.find(HarRequest(url, method, tuple(lines), sent.encode()))
            assert found is not None
            self.assertEqual(body.to_bytes(reply.body_base64), found.body)
            self.assertEqual((reply.status, reply.url), (found.status, UNSET))

    def test_repeats(self) -> None:
        """Of entries with the same request headers the first one answers."""
        first, second = (entry(lines=[("x", "1")], content={"text": text}) for text in "ab")
        (reply,) = replies(first, second).values()
        self.assertEqual(body.to_bytes(reply.body_base64), b"a")

    def test_redirect(self) -> None:
        """A redirect is followed within the HAR; what it leads to may be missing."""
        moved = entry(status=301, location="/b")
        (reply, _) = replies(moved, entry("http://h/b", status=203)).values()
        self.assertEqual(reply.status, 203)
        self.assertEqual(replies(moved), {})


class LeftTests(SynchronousTestCase):
    """What the test's process answers."""

    def test_by_headers_or_body(self) -> None:
        """Entries that differ in the headers of the request, or a recorded body of a POST."""
        self.assertEqual(replies(entry(), entry(lines=[("x", "1")])), {})
        self.assertEqual(replies(entry(method="POST", sent="one")), {})
        self.assertEqual(list(replies(entry(method="PUT", sent="one"))), [("PUT", "http://h/a")])

    def test_no_response(self) -> None:
        """What never got an answer, goes in a circle, or cannot be read."""
        for bad in (
            entry(status=-1),
            entry(status=101),
            entry(status="x"),
            entry(status=302, location="/a"),
            entry(content={"_file": "missing"}),
            entry(content={"text": "x", "encoding": "base64"}),
            entry(url=7),
            entry(method=None),
        ):
            self.assertEqual(replies(bad), {}, bad)

    def test_other_routes(self) -> None:
        """What the route does not want, and all where only the test's process can tell."""
        recorded = (entry(), entry("http://h/b"), entry(method="PUT"))
        glob = {"url": "**/a", "method": "get", "client_id": "app"}
        self.assertEqual(list(replies(*recorded, url=glob)), [("GET", "http://h/a")])
        self.assertEqual(replies(*recorded, url=lambda _: True), {})

    def test_large(self) -> None:
        """What goes beyond the limit together; smaller ones after it are there."""
        self.patch(har_replies, "MOST_BYTES", 100)
        sizes = {"http://h/a": 60, "http://h/b": 30, "http://h/c": 6}
        plain = [entry(url, content={"text": "x" * size}) for url, size in sizes.items()]
        coded = [
            entry(
                url,
                content={
                    "text": base64.b64encode(b"x" * size).decode(),
                    "encoding": "base64",
                },
            )
            for url, size in sizes.items()
        ]
        for recorded in (plain, coded):
            found = [url for _, url in replies(*recorded)]
            self.assertEqual(found, ["http://h/a", "http://h/c"])

    def test_many(self) -> None:
        """Of many answers the first are there."""
        self.patch(har_replies, "MOST_REPLIES", 2)
        found = replies(*(entry(f"http://h/{name}") for name in "abc"))
        self.assertEqual([url for _, url in found], ["http://h/a", "http://h/b"])

    def test_large_files(self) -> None:
        """A large file beside the HAR, or in the archive, is not read."""
        self.patch(har_replies, "MOST_BYTES", 100)
        directory = Path(self.mktemp())
        directory.mkdir()
        for name, size in (("large", 90), ("small", 30)):
            (directory / name).write_bytes(b"x" * size)
        archive = directory / "some.zip"
        with zipfile.ZipFile(archive, "w") as made:
            for name in ("large", "small"):
                made.write(directory / name, name)
        for path in (directory / "some.har", archive):
            store = HarFile(path)
            read: list[str] = []
            lookup = HarLookup(
                [
                    entry("http://h/a", content={"_file": "large"}),
                    entry("http://h/b", content={"_file": "small"}),
                    entry("http://h/c", content={"_file": "../evil"}),
                ],
                lambda name, store=store, read=read: read.append(name) or store.read(name),  # type: ignore[misc] # notes the name
            )
            found = replies_of(lookup, make_matcher("**"), store)
            self.assertEqual(([url for _, url in found], read), (["http://h/b"], ["small"]))


class RouteTests(SynchronousTestCase):
    """What a session sends, and what it notes of answers that the proxy gave."""

    def register(self, harness: SessionHarness) -> inbound.RouteRegister:
        path = Path(self.mktemp())
        path.write_text(json.dumps({"log": {"entries": [entry(content={"text": "fixed"})]}}))
        route_from_har(harness.session, HarOptions(store=HarFile(path)), "test.py:1")
        (message,) = harness.take()
        assert isinstance(message, inbound.RouteRegister)
        return message

    def test_sent(self) -> None:
        """The answers go with the route."""
        harness = SessionHarness()
        message = self.register(harness)
        assert message.replies is not UNSET
        (reply,) = message.replies
        self.assertEqual((reply.method, reply.url), ("GET", "http://h/a"))

    def test_noted(self) -> None:
        """The request is this test's, with the response."""
        harness = SessionHarness()
        route_id = self.register(harness).route_id
        asked = request("http://h/a")
        harness.receive(outbound.RequestReplied("r1", asked, "app", route_id, "t1"))
        found = harness.session.traffic.requests["r1"].existing()
        assert found is not None
        self.assertEqual((found.wire.status, found.url), (200, "http://h/a"))
        self.assertEqual(harness.session.http.decisions, {"r1": "fulfill"})
