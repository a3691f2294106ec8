"""Requests that are near to a route, and their parts."""

from typing import Any

from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from trafficmock import records
from trafficmock.core.effects import Overdue
from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.store import History
from trafficmock.history.stored_messages import Body, awaited
from trafficmock.matching.request_conditions import compile_condition
from trafficmock.records import CarriedContext
from trafficmock.server.diagnosis.similar_request import SimilarRequest, SimilarRequests
from trafficmock.server.diagnosis.similar_request_search import (
    MOST_COMPARED,
    MOST_MATCHERS,
    MOST_NAMED,
    compare,
    overdue_steps,
)
from trafficmock.server.recorded_content import recorded_content
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher, SerializedRegex
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher
from trafficmock.wire.waits.wait_messages import WaitOverdue

ITEM = SerializedMatcher(url_glob="https://{api,www}.shop.test/item/*", methods=["GET"])


class DiagnosisTestCase(SynchronousTestCase):
    """A history, and questions about it."""

    def setUp(self) -> None:
        self.history = History()
        self.came = 0

    def comes(
        self,
        url: str,
        method: str = "GET",
        client: str = "shop",
        carried: CarriedContext | None = None,
    ) -> None:
        """Let a request come, one millisecond after the one before."""
        self.came += 1
        request = SerializedRequest(url, method, {}, body.NULL)
        seen = records.RequestSeen(f"r{self.came}", client, request, carried=carried)
        self.history.record(seen, 1000 + self.came)

    def ask(
        self, *matchers: UnmetMatcher, test_id: str = "", since: int | None = None
    ) -> list[SimilarRequests]:
        own = frozenset([test_id] if test_id else [])
        steps = compare(self.history, matchers, "route", since, own)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: list[SimilarRequests] = end.value
                return found

    def rows(self, matcher: SerializedMatcher = ITEM, since: Any = UNSET, **more: Any) -> Any:
        return self.ask(UnmetMatcher(matcher, since), **more)[0].requests


def facts(row: SimilarRequest) -> list[tuple[object, ...]]:
    return [(each.part, each.found, each.wanted) for each in row.differs]


class DifferenceTests(DiagnosisTestCase):
    """What differs, with both texts."""

    def test_parts(self) -> None:
        """Each part that differs has the text of the request and that of the glob."""
        for url, method, client, expected in (
            ("https://api.shop.test/item/a", "GET", "shop", []),
            ("https://api.shop.test/items/a", "GET", "x", [("path", "/items/a", "/item/*")]),
            ("https://api.shop.test/item/a", "POST", "shop", [("method", "POST", "GET")]),
            (
                "https://api.shop.example/item/a",
                *("GET", "shop"),
                [("host", "api.shop.example", "{api,www}.shop.test")],
            ),
            ("https://api.shop.test:8443/item/a", "GET", "shop", [("port", "8443", "443")]),
            ("https://www.shop.test/item/a/b", "GET", "shop", [("path", "/item/a/b", "/item/*")]),
        ):
            self.setUp()
            self.comes(url, method, client)
            (row,) = self.rows()
            self.assertEqual(facts(row), expected, url)

    def test_as_routes_read(self) -> None:
        """Capitals and default ports are read as routes read them."""
        self.comes("https://api.shop.test/items/a")
        matcher = SerializedMatcher(url_glob="HTTPS://API.Shop.test:443/item/*")
        self.assertEqual(facts(self.rows(matcher)[0]), [("path", "/items/a", "/item/*")])

    def test_client(self) -> None:
        """A request to the right URL from another client id is the nearest."""
        self.comes("https://h.test/other")
        self.comes("https://h.test/a", client="apii")
        matcher = SerializedMatcher(url_glob="**/a", client_ids=["api", "web"])
        nearest = self.rows(matcher)[0]
        self.assertEqual(facts(nearest), [("client", "apii", "api or web")])

    def test_without_a_glob(self) -> None:
        """A regular expression differs as a whole; without a pattern any URL is right."""
        self.comes("https://me:secret@h.test/a")
        regex = SerializedMatcher(url_regex=SerializedRegex("/v2/", "i"))
        self.assertEqual(facts(self.rows(regex)[0]), [("url", "https://h.test/a", "//v2//i")])
        self.assertEqual(facts(self.rows(SerializedMatcher())[0]), [])

    def test_predicate(self) -> None:
        """A predicate is not judged; the other conditions are."""
        self.comes("https://h.test/a")
        (row,) = self.rows(SerializedMatcher(predicate=True, methods=["POST"]))
        self.assertTrue(row.undecided)
        self.assertEqual(facts(row), [("method", "GET", "POST")])

    def test_before(self) -> None:
        """A request that came before the route or the wait is marked."""
        self.comes("https://api.shop.test/item/a")
        self.assertEqual([row.before for row in self.rows(since=1001)], [False])
        self.assertEqual([row.before for row in self.rows(since=1002)], [True])

    def test_response(self) -> None:
        """The status is there, and why the server gave no response."""
        self.comes("https://api.shop.test/item/a")
        self.history.record(records.RequestPassedThrough("r1"), 1100)
        failed = records.ResponseReported("r1", None, SerializedError("failed", "ECONN\nREFUSED"))
        self.history.record(failed, 1200)
        (row,) = self.rows()
        self.assertEqual((row.status, row.failure), (UNSET, "ECONN REFUSED"))


class ListTests(DiagnosisTestCase):
    """Which requests are named."""

    def test_nearest_first(self) -> None:
        """Fewest differences first, then the most similar URL, then the newest."""
        paths = ("price/b", "items/a", "item/a", "price/b?x=1", "items/a")
        for path in paths:
            self.comes(f"https://api.shop.test/{path}")
        self.assertEqual([row.id for row in self.rows()], ["r3", "r5", "r1", "r4"])

    def test_alike(self) -> None:
        """Requests with the same facts are one row, with their number."""
        for _ in range(3):
            self.comes("https://api.shop.test/items/a")
        (row,) = self.rows()
        self.assertEqual((row.id, row.count), ("r3", 3))

    def test_other_tests(self) -> None:
        """Requests of another test are listed only if they match."""
        sells = CarriedContext("sells", "sells", "g.py", late=False)
        buys = CarriedContext("buys", "buys", "f.py", late=False)
        for path in ("item/a", "items/a"):
            for test in (sells, buys, None):
                self.comes(f"https://api.shop.test/{path}", carried=test)
        rows = self.rows(test_id="buys")
        self.assertEqual({row.id for row in rows}, {"r1", "r2", "r3", "r5", "r6"})
        foreign = [(row.id, row.title, row.path) for row in rows if row.foreign]
        self.assertEqual(foreign, [("r1", "sells", "g.py")])
        self.assertEqual(len(self.rows()), 6)

    def test_since(self) -> None:
        """Requests from before the test are left out."""
        for number in range(3):
            self.comes(f"https://api.shop.test/items/{number}")
        found = self.ask(UnmetMatcher(ITEM), since=1003)[0].requests
        self.assertEqual([row.id for row in found], ["r3"])

    def test_overdue(self) -> None:
        """A wait that nothing met ends with what came instead, compared in the same way."""
        for path in ("items/a", "item/b", "items/c"):
            self.comes(f"https://api.shop.test/{path}")
        unmet = UnmetMatcher(ITEM, 1003)
        overdue = Overdue("c", "w", "request", unmet, 1002, [], frozenset())
        *steps, answer = overdue_steps(self.history, overdue)
        assert isinstance(answer, WaitOverdue)
        self.assertEqual(
            answer.text,
            "Seen since the test began, nearest first:\n"
            "  GET https://api.shop.test/item/b (client shop): "
            "came before the wait began: begin it before the act\n"
            "  GET https://api.shop.test/items/c (client shop): "
            "path differs ('/items/c', not '/item/*')",
        )
        self.assertEqual(steps, [None] * 4)

    def test_unix_sockets(self) -> None:
        """Who waits for a request to a UNIX socket reads who is seen."""
        unmet = UnmetMatcher(SerializedMatcher(url_glob="http+unix://%2Fd.sock/info"))
        hint = "Requests to UNIX sockets are seen in Node applications alone"
        for comes in (False, True):
            if comes:
                self.comes("http+unix://%2Fother.sock/info")
            overdue = Overdue("c", "w", "request", unmet, 1000, [], frozenset())
            *_, answer = overdue_steps(self.history, overdue)
            assert answer is not None
            self.assertTrue(str(answer.text).startswith(hint))

    def test_overdue_without_history(self) -> None:
        """What the worker was sent stands for a history that has nothing; else nobody came."""
        unmet = UnmetMatcher(ITEM, 1003)
        effect = Overdue(
            "c", "w", "request", unmet, 1002, [], frozenset(), ["  GET http://h.test/"]
        )
        came = ["Seen since the test began, newest first:", "  GET http://h.test/"]
        nobody = ["No request of any application came since the test began.", "No application is"]
        for capture, seen, lines in (
            ("all", effect.seen, came),
            ("none", effect.seen, ["(the proxy's history keeps only: none)", *came]),
            ("all", [], nobody),
        ):
            self.patch(self.history, "capture", capture)
            *_, answer = overdue_steps(self.history, structs.replace(effect, seen=seen))
            assert answer is not None
            for line, wanted in zip(answer.text.split("\n"), lines, strict=False):
                self.assertTrue(line.startswith(wanted), line)

    def test_limits(self) -> None:
        """Only so many requests are named and compared, and so many matchers answered."""
        for number in range(MOST_COMPARED + 50):
            self.comes(f"https://api.shop.test/items/{number}")
        answer = self.ask(*[UnmetMatcher(ITEM)] * (MOST_MATCHERS + 1))
        self.assertEqual(len(answer), MOST_MATCHERS)
        self.assertEqual(len(answer[0].requests), MOST_NAMED)
        self.assertEqual(answer[0].more, MOST_COMPARED - MOST_NAMED)


REQUEST = SerializedRequest("http://h.test/?a=1", "POST", {"X-Key": "1"}, body.NULL)


def entry(kept: Body | None) -> RequestEntry:
    return RequestEntry(
        id="1",
        timestamp=0,
        client_id="app",
        request=REQUEST,
        request_body=kept,
        on_change=lambda _: None,
    )


class ContentTests(SynchronousTestCase):
    """Headers, the query and the body of an entry."""

    def test_whole(self) -> None:
        """All parts are there."""
        asked = recorded_content(entry(Body(b'{"a": 2}', is_text=False)))
        self.assertEqual(asked.values("json", ["a"]), [2])
        self.assertEqual(asked.values("query", ["a"]), ["1"])
        self.assertEqual(asked.values("header", ["x-key"]), ["1"])

    def test_not_whole(self) -> None:
        """A body that is cut, or still arrives, is not compared."""
        wanted = compile_condition("json", ["a"])
        cut = Body(b"{", 99, "cut", is_text=False)
        for kept in (cut, awaited()):
            text = wanted.difference(recorded_content(entry(kept)))
            self.assertEqual(text, "json.a: the history does not have the whole body")
        self.assertIn("no body", str(wanted.difference(recorded_content(entry(None)))))
