"""What a list shows of an entry."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command.output.list_columns import (
    LEAST_ID,
    broken_by,
    closing,
    duration,
    has_status,
    owner,
    request_row,
    shortened,
    took,
    upstream_error,
)

ENTRY = {
    "timestamp": 1,
    "action": "passthrough",
    "clientId": "shop",
    "request": {"url": "http://x/", "method": "GET"},
}


class ShortenedTests(SynchronousTestCase):
    """Ids in a list."""

    def test_example(self) -> None:
        """As long as it takes to tell them apart, never shorter than eight characters."""
        ids = ["7341eb172fa75", "7341eb172fb00", "short", "x" * 40]
        shown = ["7341eb172fa", "7341eb172fb", "short", "xxxxxxxx"]
        self.assertEqual(list(shortened(ids).values()), shown)
        self.assertEqual(list(shortened(ids, whole=True).values()), sorted(ids))

    @given(st.sets(st.text("ab", min_size=1, max_size=20), max_size=20))
    def test_any(self, ids: set[str]) -> None:
        """What is shown begins one id only, unless it is a whole id."""
        for entry_id, shown in shortened(ids).items():
            self.assertTrue(entry_id.startswith(shown))
            self.assertGreaterEqual(len(shown), min(LEAST_ID, len(entry_id)))
            if shown != entry_id:
                self.assertEqual([each for each in ids if each.startswith(shown)], [entry_id])


class CellTests(SynchronousTestCase):
    """Values."""

    def test_duration(self) -> None:
        """Milliseconds, from a second on seconds, nothing while it is not known."""
        self.assertEqual(
            [duration(n) for n in (None, 0, 999, 1234)], ["", "0 ms", "999 ms", "1.2 s"]
        )

    def test_took(self) -> None:
        """A request whose answer is still arriving is open."""
        answered = ENTRY | {"durationMs": 12, "outcome": {"response": {"status": 200}}}
        arriving = answered | {"outcome": {"response": {"status": 200, "bodyPending": True}}}
        shown = [took(each) for each in (ENTRY, answered, arriving)]
        self.assertEqual(shown, ["", "12 ms", "open"])

    def test_owner(self) -> None:
        """The title of the owning test, or of all that compete, each once."""
        matches = [{"title": "a"}, {"title": "b"}, {"title": "a"}]
        self.assertEqual(owner({"title": "t"}), "t")
        self.assertEqual(owner({"title": "a/test_b.py::Case::test_c[x]"}), "Case::test_c[x]")
        self.assertEqual(owner({"title": "std::vector grows"}), "std::vector grows")
        self.assertEqual(owner({"outcome": {"matches": matches}}), "a | b")
        self.assertEqual(owner({"outcome": "error", "matches": matches}), "a | b")
        self.assertEqual(owner({"outcome": "pending"}), "")
        self.assertEqual(owner({"title": "t", "late": True}), "late: t")

    def test_status(self) -> None:
        """The status of the response, an error's code, or why upstream gave none."""
        for more, shown in (
            ({"outcome": {"response": {"status": 404}}}, "404"),
            ({"outcome": {"errorCode": "connectionrefused"}}, "connectionrefused"),
            ({"outcome": {"code": "ambiguous_route"}}, "ambiguous_route"),
            ({"upstreamError": "getaddrinfo EAI_AGAIN api.example"}, "EAI_AGAIN"),
            ({"upstreamError": "connect ECONNREFUSED 127.0.0.1:1"}, "ECONNREFUSED"),
            ({"upstreamError": "SSL ERROR: it is no good"}, "unreachable"),
            ({"upstreamError": ""}, "unreachable"),
            ({}, ""),
        ):
            entry = {**ENTRY, "outcome": {}, **more}
            self.assertEqual(request_row(entry, "a")[3].text, shown)

    def test_broken(self) -> None:
        """An answer that broke off has no status: the application did not get it."""
        outcome = {"outcome": {"kind": "fulfilled", "response": {"status": 200}}}
        event = {"kind": "broken_off", "detail": "the fault empty_response"}
        for broken in ({"broken": "the fault empty_response"}, {"events": [event]}):
            entry = {**ENTRY, "action": "fulfill", **outcome, **broken}
            self.assertEqual(request_row(entry, "id")[3].text, "broken")
            self.assertEqual(broken_by(entry), "the fault empty_response")
        self.assertEqual(request_row({**ENTRY, **outcome}, "id")[3].text, "200")

    def test_upstream_error(self) -> None:
        """Of a whole entry the events tell, unless a later attempt was answered."""
        failed = {"kind": "upstream_error", "detail": "ECONNRESET"}
        answered = {"kind": "response", "detail": "200 OK"}
        self.assertEqual(upstream_error({"events": [failed]}), "ECONNRESET")
        self.assertIsNone(upstream_error({"events": [failed, answered]}))
        self.assertEqual(upstream_error({"events": [answered, failed]}), "ECONNRESET")
        self.assertIsNone(upstream_error({"events": []}))

    def test_has_status(self) -> None:
        """A status, or one of its class; without a response there is none."""
        found = {"outcome": {"response": {"status": 404}}}
        for wanted, expected in ((None, True), ("404", True), ("4xx", True), ("500", False)):
            self.assertEqual(has_status(found, wanted), expected)
        self.assertFalse(has_status({"outcome": {}}, "4XX"))
        self.assertFalse(has_status({"outcome": {}}, "404"))

    def test_closing(self) -> None:
        """A code, that there was none, an error, or nothing while it is open."""
        self.assertEqual(closing({"close": {"code": 1001}}), "1001")
        self.assertEqual(closing({"close": {"wasClean": False}}), "yes")
        self.assertEqual(closing({"errorCode": "claim_timeout"}), "claim_timeout")
        self.assertEqual(closing({}), "")
