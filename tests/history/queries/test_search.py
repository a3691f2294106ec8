"""Searching the history."""

from collections.abc import Callable
from typing import Any

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import (
    OWNER,
    diagnostic,
    fill,
    frame,
    request,
    response,
)
from trafficmock import records
from trafficmock.history.query import Query
from trafficmock.history.search import (
    claimants,
    fold_in_windows,
    header_lines,
    lines,
)
from trafficmock.history.store import History
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

# Where a text may stand in a request, with its score.
PLACES: list[tuple[int, str, Callable[[History, str], None]]] = [
    (
        100,
        "url",
        lambda h, t: h.record(records.RequestSeen("r", "app", request(f"http://x/{t}")), 1),
    ),
    (70, "method", lambda h, t: h.record(records.RequestSeen("r", "app", request(method=t)), 1)),
    (
        40,
        "request header",
        lambda h, t: h.record(records.RequestSeen("r", "app", request(headers={"a": t})), 1),
    ),
    (
        40,
        "header name",
        lambda h, t: h.record(records.RequestSeen("r", "app", request(headers={t: "a"})), 1),
    ),
    (
        40,
        "header line",
        lambda h, t: h.record(records.RequestSeen("r", "app", request(pairs=[("a", t)])), 1),
    ),
    (
        20,
        "request body",
        lambda h, t: h.record(records.RequestSeen("r", "app", request(content=t.encode())), 1),
    ),
]
DECISIONS: list[tuple[int, str, Callable[[History, str], None]]] = [
    (
        70,
        "error text",
        lambda h, t: h.record(records.RequestFailed("r", None, "internal", t, None), 1),
    ),
    (70, "error code", lambda h, t: h.record(records.RequestFailed("r", None, t, "", None), 1)),
    (
        70,
        "claimant",
        lambda h, t: h.record(records.RequestFailed("r", None, "c", "m", [diagnostic(t)]), 1),
    ),
    (70, "abort code", lambda h, t: h.record(records.RequestAborted("r", None, t, ""), 1)),
    (
        40,
        "response header",
        lambda h, t: h.record(records.RequestFulfilled("r", OWNER, response(headers={"a": t})), 1),
    ),
    (
        20,
        "response body",
        lambda h, t: h.record(
            records.RequestFulfilled("r", OWNER, response(content=t.encode())), 1
        ),
    ),
    (20, "event", lambda h, t: h.record(records.RequestAborted("r", None, "failed", t), 1)),
    (
        20,
        "overridden url",
        lambda h, t: h.record(records.RequestContinued("r", OWNER, SerializedOverrides(url=t)), 1),
    ),
    (
        20,
        "overridden header",
        lambda h, t: h.record(
            records.RequestContinued("r", OWNER, SerializedOverrides(headers={"a": t})), 1
        ),
    ),
    (
        20,
        "overridden body",
        lambda h, t: h.record(
            records.RequestContinued(
                "r", OWNER, SerializedOverrides(body_base64=body.from_bytes(t.encode()))
            ),
            1,
        ),
    ),
]


def found(history: History, q: str, **others: Any) -> list[str]:
    return [entry.id for entry in history.requests.query(evolve(Query(q=q), **others))]


def ranked_history() -> History:
    """Remember one request for each score, the best score oldest."""
    history = History()
    history.record(records.RequestSeen("url", "app", request("http://x/needle")), 1)
    history.record(records.RequestSeen("status", "app", request(method="NEEDLE")), 2)
    history.record(records.RequestSeen("header", "app", request(headers={"x": "a needle"})), 3)
    history.record(records.RequestSeen("body", "app", request(content=b"needle")), 4)
    history.record(records.RequestSeen("none", "app", request(content=b"hay")), 5)
    return history


class SearchTests(SynchronousTestCase):
    """What is found, and in which order."""

    def test_rank(self) -> None:
        """The best score comes first, however old, and what has no hit is left out."""
        self.assertEqual(found(ranked_history(), "Needle"), ["url", "status", "header", "body"])

    def test_ties(self) -> None:
        """Among equal scores the newest comes first."""
        history = History()
        fill(history, "a", "b", "c")
        self.assertEqual(found(history, "shop.test"), ["c", "b", "a"])

    def test_pages(self) -> None:
        """Every page of a ranked list is the same part of it as of the whole."""
        history = ranked_history()
        whole = found(history, "needle")
        for offset in range(5):
            for limit in range(5):
                with self.subTest(f"{offset} {limit}"):
                    page = found(history, "needle", offset=offset, limit=limit)
                    self.assertEqual(page, whole[offset : offset + limit])

    def test_filters(self) -> None:
        """The exact filters hold in a search."""
        self.assertEqual(found(ranked_history(), "needle", from_=2, to=3), ["status", "header"])

    def test_places(self) -> None:
        """A text is found wherever it stands, and scored by the place (protocol 3)."""
        for places, begin in ((PLACES, False), (DECISIONS, True)):
            for score, name, put in places:
                with self.subTest(name):
                    history = History()
                    if begin:
                        history.record(records.RequestSeen("r", "app", request()), 1)
                    put(history, "needle")
                    for place, better in (("http://x/needle", 100), ("http://x/", 40)):
                        other = {"h": "needle"} if better == 40 else {}
                        history.record(
                            records.RequestSeen(str(better), "app", request(place, headers=other)),
                            0,
                        )
                    order = found(history, "NEEDLE")
                    self.assertEqual(sorted(order), ["100", "40", "r"])
                    expected = {100: 1, 70: 1, 40: 2, 20: 2}[score]
                    self.assertEqual(order.index("r"), expected)

    def test_owner_and_status(self) -> None:
        """Title, file, test id, action, outcome and status are searched."""
        history = History()
        history.record(records.RequestSeen("r", "app", request()), 1)
        history.record(records.RequestFulfilled("r", OWNER, response(418)), 2)
        for text in ("by CARD", "pay.spec", "TEST-1", "fulfil", "mocked", "418"):
            with self.subTest(text):
                self.assertEqual(found(history, text), ["r"])

    def test_not_searched(self) -> None:
        """The client id and ids of routes are not searched (protocol 3)."""
        history = History()
        history.record(records.RequestSeen("r", "node-77", request()), 1)
        history.record(records.RequestFulfilled("r", OWNER, response()), 2)
        self.assertEqual(found(history, "node-77") + found(history, "route-1"), [])

    def test_folding(self) -> None:
        """Case does not count in any script, in heads or in bodies."""
        for text, q in [
            ("GRÖẞE", "größe"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("ПРИВЕТ", "привет"),
            ("\u017ftraße", "STRASSE"),
        ]:
            with self.subTest(text):
                history = History()
                history.record(records.RequestSeen("head", "app", request(f"http://x/{text}")), 1)
                history.record(
                    records.RequestSeen("body", "app", request(content=text.encode())), 1
                )
                self.assertEqual(found(history, q), ["head", "body"])

    def test_bad_utf8(self) -> None:
        """Bytes that are not UTF-8 hide nothing that stands beside them."""
        history = History()
        history.record(records.RequestSeen("r", "app", request(content=b"\xff\xfeneedle\xc3")), 1)
        self.assertEqual(found(history, "needle"), ["r"])

    def test_truncated(self) -> None:
        """A body that was dropped is not found, nor is what stands in its place."""
        history = History(byte_limit=8)
        history.record(records.RequestSeen("r", "app", request(content=b"needle in hay")), 1)
        self.assertEqual(found(history, "needle") + found(history, "truncated"), [])

    @settings(max_examples=40, deadline=None)
    @given(
        st.integers(0, 3),
        st.integers(-30, 30),
        st.sampled_from(["needle", "nädelchen", "\U0001d48f"]),
    )
    def test_across_windows(self, windows: int, shift: int, needle: str) -> None:
        """A text is found wherever it stands in a long body, also where the decoder pauses."""
        history = History()
        before = max(0, windows * 48 * 1024 + shift)
        history.record(
            records.RequestSeen("r", "app", request(content=b"x" * before + needle.encode())), 1
        )
        self.assertEqual(found(history, needle.upper()), ["r"])

    def test_gives_way(self) -> None:
        """A search in long bodies pauses often, and only the last steps give entries."""
        history = History()
        for number in range(20):
            hay = request(content=b"x" * 100_000 + b"needle")
            history.record(records.RequestSeen(str(number), "app", hay), 1)
        steps = list(history.requests.slices(Query(q="needle")))
        self.assertGreater(len(steps), 20)
        self.assertEqual([len(step) for step in steps if step], [20])

    def test_reads_no_further_than_needed(self) -> None:
        """When heads fill the asked page, no body is searched."""
        history = History()
        for number in range(20):
            hay = request("http://x/needle", content=b"x" * 300_000)
            history.record(records.RequestSeen(str(number), "app", hay), 1)
        self.assertLess(len(list(history.requests.slices(Query(q="needle", limit=5)))), 5)

    def test_gone_meanwhile(self) -> None:
        """Entries that go while a search pauses are passed over."""
        history = History(http_limit=2)
        for name in "ab":
            history.record(
                records.RequestSeen(name, "app", request(content=b"x" * 200_000 + b"needle")), 1
            )
        steps = history.requests.slices(Query(q="needle"))
        next(steps)
        fill(history, "new")
        self.assertEqual([entry.id for step in steps for entry in step], ["b"])


class SocketSearchTests(SynchronousTestCase):
    """The same for WebSockets."""

    def found(self, q: str) -> list[str]:
        history = History()
        history.record(records.SocketSeen("frame", "app-1", "ws://x/", []), 1)
        frame(history, "y" * 70_000 + "Needle", socket_id="frame")
        history.record(records.SocketSeen("error", "app-2", "ws://x/", []), 3)
        history.record(
            records.SocketFailed("error", None, "ambiguous_route", "m", [diagnostic("A needle")]), 4
        )
        history.record(records.SocketSeen("url", "app-3", "ws://x/needle", []), 5)
        history.record(records.SocketOwned("url", OWNER), 6)
        return [entry.id for entry in history.sockets.query(Query(q=q))]

    def test_rank(self) -> None:
        """URLs come before outcomes and errors, and those before events."""
        self.assertEqual(self.found("NEEDLE"), ["url", "error", "frame"])

    def test_fields(self) -> None:
        """Outcome, title, file, test id, client id, error and event kind are searched."""
        for q, expected in [
            ("matched", ["url"]),
            ("by card", ["url"]),
            ("pay.spec", ["url"]),
            ("test-1", ["url"]),
            ("app-2", ["error"]),
            ("ambiguous", ["error"]),
            ("handler", ["url"]),
        ]:
            with self.subTest(q):
                self.assertEqual(self.found(q), expected)


class TextTests(SynchronousTestCase):
    """Putting texts together."""

    def test_lines(self) -> None:
        """Texts that are absent leave no line."""
        self.assertEqual(lines("a", UNSET, "b"), "a\nb")

    def test_claimants(self) -> None:
        """Claimants are named by title, file and test."""
        named = claimants([diagnostic()])
        self.assertEqual(named, "pays by cash\ntests/cash.spec.ts\ntest-2")
        self.assertIs(claimants(UNSET), UNSET)

    def test_headers(self) -> None:
        """Headers are lines; the ordered pairs win over the map."""
        self.assertEqual(header_lines({"a": "1", "b": "2"}, UNSET), "a:1\nb:2")
        self.assertEqual(header_lines({"a": "1"}, [("A", "1"), ("A", "2")]), "A:1\nA:2")

    @given(st.text(max_size=50), st.integers(0, 4))
    def test_windows(self, text: str, repeat: int) -> None:
        """Pieces of a long text are the text, folded."""
        text *= 1 + repeat * 1500
        self.assertEqual("".join(fold_in_windows(text, 0)), text.casefold())
