"""Answers to a worker's ``history:query``."""

import itertools
import json
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock import records
from trafficmock.core.effects import AnswerQuery, Overdue, WriteRecording
from trafficmock.core.state.har_recording import Exchange
from trafficmock.history.store import History
from trafficmock.records import Owner
from trafficmock.server import worker_queries
from trafficmock.wire.codec import encode
from trafficmock.wire.inbound import HistoryQuery, RecordingQuery
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_har import SerializedRecording
from trafficmock.wire.payloads.serialized_matcher import SerializedCondition, SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher
from trafficmock.wire.waits.wait_messages import WaitOverdue


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
        """Ask, and give the ids of the answer."""
        return [entry["id"] for entry in self.answered(**query)["entries"]]

    def answered(self, **query: Any) -> Any:
        """Ask, and give the answer as it goes over the wire."""
        *steps, answer = worker_queries.history_steps(self.history, HistoryQuery("x", **query), str)
        self.assertEqual(set(steps) - {None}, set())
        assert answer is not None
        message = json.loads(encode(answer))
        self.assertEqual((message["type"], message["queryId"]), ("history:result", "x"))
        return message

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

    def test_values(self) -> None:
        """The answer has the values of each entry for the functions of the matcher."""
        for number in (3, 4):
            content = body.from_bytes(b'{"a": %d}' % number)
            request = SerializedRequest("http://h.test/c", "POST", {}, content)
            self.history.record(records.RequestSeen(f"q{number}", "shop", request), 1003)
        wanted = SerializedCondition("json", ["a"], has_function=True)
        query = HistoryQuery("x", matcher=SerializedMatcher(conditions=[wanted]))
        *_, answer = worker_queries.history_steps(self.history, query, str)
        assert answer is not None
        values = [json.loads(bytes(each)) for each in answer.values or ()]
        self.assertEqual(
            values, [[{"part": "json", "path": ["a"], "values": [value]}] for value in (4, 3)]
        )

    def test_surrogate_value(self) -> None:
        """A lone surrogate, which agents can send, is in the values as it came."""
        request = SerializedRequest("http://h.test/", "GET", {"x-id": "\ud800"}, body.NULL)
        self.history.record(records.RequestSeen("q3", "shop", request), 1003)
        wanted = SerializedCondition("header", ["x-id"], has_function=True)
        query = HistoryQuery("x", matcher=SerializedMatcher(conditions=[wanted]))
        *_, answer = worker_queries.history_steps(self.history, query, str)
        assert answer is not None
        ((placed,),) = json.loads(encode(answer))["values"]
        self.assertEqual(placed["values"], ["\ud800"])

    def test_predicate(self) -> None:
        """A predicate, which only the worker could run, matches nothing."""
        self.assertEqual(self.asked(matcher=SerializedMatcher(predicate=True)), [])

    def test_bounded(self) -> None:
        """The answer stops before it gets too large for a message, and says so; ids are small."""
        self.assertNotIn("truncated", self.answered())
        self.patch(worker_queries, "MOST_BYTES", 500)
        self.assertEqual(self.asked(), ["q2"])
        self.assertTrue(self.answered()["truncated"])
        ids = self.answered(only_ids=True)
        self.assertEqual(ids["entries"], [{"id": "q2"}, {"id": "q1"}, {"id": "q0"}])
        self.assertNotIn("truncated", ids)


class QueueTests(SynchronousTestCase):
    """The queries of several connections."""

    def setUp(self) -> None:
        self.history = History()
        for number in range(3):
            request = SerializedRequest("http://h.test/", "GET", {}, body.NULL)
            self.history.record(records.RequestSeen(f"q{number}", "shop", request), 1000)
        self.clock = Clock()
        self.sent: list[tuple[str, str]] = []
        self.open = {"a", "b"}
        ticks = itertools.count()
        self.queries = worker_queries.WorkerQueries(
            self.history,
            self.clock,
            lambda: next(ticks) * 0.01,
            is_open=self.open.__contains__,
            send=self.send,
        )

    def send(self, connection_id: str, message: Any) -> None:
        is_end = isinstance(message, WaitOverdue)
        self.sent.append((connection_id, message.wait_id if is_end else message.query_id))

    def ask(self, connection_id: str, *query_ids: str) -> None:
        for query_id in query_ids:
            self.queries.answer(AnswerQuery(connection_id, HistoryQuery(query_id)))

    def work(self) -> list[tuple[str, str]]:
        """Let all turns pass; give what was sent."""
        self.clock.pump([0] * 100)
        sent, self.sent = self.sent, []
        return sent

    def test_one_by_one(self) -> None:
        """A connection has one query at work; its next one begins after the answer."""
        self.ask("a", "a1", "a2", "a3")
        self.ask("b", "b1")
        begun = len(self.queries._working)
        self.assertLessEqual(begun, 2)
        self.assertEqual(self.work(), [("a", "a1"), ("b", "b1"), ("a", "a2"), ("a", "a3")])
        self.assertEqual((self.queries._waiting, self.queries._active), ({}, set()))

    def test_peer_that_does_not_read(self) -> None:
        """No query of a connection begins while its peer does not read; others are answered."""
        self.queries.pause("a")
        self.ask("a", "a1", "a2")
        self.ask("b", "b1")
        self.assertEqual(self.work(), [("b", "b1")])
        self.queries.resume("a")
        self.assertEqual(self.work(), [("a", "a1"), ("a", "a2")])

    def test_answer_that_fills_the_queue(self) -> None:
        """An answer that is not read holds the next query back, and a drained queue lets it go."""

        def send(connection_id: str, message: Any) -> None:
            self.send(connection_id, message)
            self.queries.pause(connection_id)

        self.queries.send = send
        self.ask("a", "a1", "a2")
        self.assertEqual(self.work(), [("a", "a1")])
        self.queries.resume("a")
        self.queries.resume("a")
        self.assertEqual(self.work(), [("a", "a2")])

    def test_pieces(self) -> None:
        """A peer that does not read gets no further piece; other queries come after the last."""
        sent: list[str] = []

        def send(connection_id: str, message: Any) -> None:
            sent.append("end" if message.done else message.file or "entries")
            self.queries.pause(connection_id)

        self.queries.send = send
        asked = SerializedRequest("http://h.test/", "POST", {}, b"a")
        exchange = Exchange(asked, "refused", 0, 1)
        for number in (1, 2):
            query = RecordingQuery(f"q{number}", "t", "r")
            self.queries.answer(WriteRecording("a", query, SerializedRecording(), (exchange,)))
        self.work()
        (name,) = sent
        for _ in range(5):
            self.queries.resume("a")
            self.work()
        self.assertEqual(sent, [name, "entries", "end"] * 2)

    def test_limit(self) -> None:
        """Only so many wait; the error says what to do, and those before are answered.

        An overdue wait is always ended.
        """
        errors: list[Any] = []
        self.queries.pause("a")
        self.patch(worker_queries, "MOST_WAITING", 2)
        self.ask("a", "a1", "a2")
        self.queries.send = lambda _, message: errors.append(message)
        self.ask("a", "a3")
        unmet = UnmetMatcher(SerializedMatcher(url_glob="**"))
        self.queries.answer(Overdue("a", "w", "request", unmet, 0, [], frozenset()))
        (error,) = errors
        self.assertEqual(error.code, "too_many_queries")
        self.assertIn("Await the answers before you ask again", error.message)
        self.queries.send = self.send
        self.queries.resume("a")
        self.assertEqual(self.work(), [("a", "a1"), ("a", "a2"), ("a", "w")])

    def test_gone(self) -> None:
        """Nothing is kept for a connection that has ended."""
        self.ask("a", "a1", "a2")
        self.queries.pause("a")
        self.open.discard("a")
        self.queries.forget("a")
        self.ask("a", "a3")
        self.assertEqual(self.work(), [])
        kept = self.queries._waiting, self.queries._active, self.queries._paused
        self.assertEqual(kept, ({}, set(), set()))
