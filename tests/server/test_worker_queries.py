"""Answers to a worker's ``history:query``."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock import records
from trafficmock.history.store import History
from trafficmock.records import Owner
from trafficmock.server import worker_queries
from trafficmock.wire.codec import encode
from trafficmock.wire.inbound import HistoryQuery
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest


class QueryTests(SynchronousTestCase):
    """Which entries a worker gets."""

    def setUp(self) -> None:
        self.history = History()
        for number, (path, method) in enumerate([("a", "GET"), ("b", "GET"), ("a", "POST")]):
            request = SerializedRequest(f"http://h.test/{path}", method, {}, body.NULL)
            self.history.record(records.RequestSeen(f"q{number}", "shop", request), 1000 + number)
        self.history.record(
            records.RequestContinued("q1", Owner("t", "r", "buys", "a.spec.ts"), None), 2000
        )

    def asked(self, **query: Any) -> list[str]:
        """Ask, and give the ids of the answer as it goes over the wire."""
        *steps, answer = worker_queries.history_steps(self.history, HistoryQuery("x", **query))
        self.assertEqual(set(steps) - {None}, set())
        assert answer is not None
        message = json.loads(encode(answer))
        self.assertEqual((message["type"], message["queryId"]), ("history:result", "x"))
        return [entry["id"] for entry in message["entries"]]

    def test_all(self) -> None:
        """Without filters everything comes, newest first."""
        self.assertEqual(self.asked(), ["q2", "q1", "q0"])

    def test_test_id(self) -> None:
        """A test's entries are those it owned."""
        self.assertEqual(self.asked(test_id="t"), ["q1"])
        self.assertEqual(self.asked(test_id="other"), [])

    def test_matcher(self) -> None:
        """A matcher lets through what a route with it would match."""
        self.assertEqual(self.asked(matcher=SerializedMatcher(url_glob="**/a")), ["q2", "q0"])
        glob_and_method = SerializedMatcher(url_glob="**/a", methods=["post"])
        self.assertEqual(self.asked(matcher=glob_and_method), ["q2"])
        self.assertEqual(self.asked(matcher=SerializedMatcher(client_ids=["other"])), [])

    def test_predicate(self) -> None:
        """A predicate, which only the worker could run, matches nothing."""
        self.assertEqual(self.asked(matcher=SerializedMatcher(predicate=True)), [])

    def test_bounded(self) -> None:
        """The answer stops before it gets too large for a message."""
        self.patch(worker_queries, "MOST_BYTES", 500)
        self.assertEqual(self.asked(), ["q2"])
