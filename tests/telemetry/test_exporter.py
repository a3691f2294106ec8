"""When spans and metrics are sent, and what happens while a collector is away."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs, eventAsText
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import request, response
from tests.telemetry.fakes import MS, OWNER, Harness
from tests.telemetry.messages import attributes, metrics_of, resource_of, spans_of
from trafficmock import records
from trafficmock.redaction.redactor import Redactor
from trafficmock.telemetry.exporter import FLUSH_SECONDS, LONGEST_PAUSE
from trafficmock.telemetry.finished_span import START
from trafficmock.telemetry.otlp_client import NotSentError, Taken

AWAY = NotSentError("Connection was refused", again=True)


class ExporterTests(SynchronousTestCase):
    """Batches, a bound, and an end."""

    def setUp(self) -> None:
        self.harness = Harness()
        self.clock, self.traces = self.harness.clock, self.harness.traces
        self.exporter = self.harness.exporter

    def answered(self, count: int) -> None:
        """Let that many requests come and be answered."""
        for number in range(count):
            seen = records.RequestSeen(f"q{number}", "shop", request())
            self.harness.record(seen, records.RequestFulfilled(seen.request_id, OWNER, response()))

    def turn(self) -> None:
        """Let what is due now happen."""
        for _ in range(5):
            self.clock.advance(0)

    def sent(self) -> list[int]:
        """Give the number of spans of each request to the collector."""
        return [len(spans_of(body)) for body in self.traces.bodies]

    def test_delay(self) -> None:
        """A few spans wait for others; nothing is written while a request is decided."""
        self.answered(2)
        self.turn()
        self.assertEqual(self.sent(), [])
        self.clock.advance(5)
        self.turn()
        self.assertEqual(self.sent(), [2])
        self.assertEqual(resource_of(self.traces.bodies[0]), {"service.name": "shop-tests"})

    def test_batch(self) -> None:
        """A whole batch is sent in the next turn of the reactor, the rest after the delay."""
        self.answered(13)
        self.assertEqual(self.sent(), [])
        self.turn()
        self.assertEqual(self.sent(), [10])
        self.clock.advance(5)
        self.turn()
        self.assertEqual(self.sent(), [10, 3])

    def test_one_at_a_time(self) -> None:
        """A slow collector gets one request at a time; the others wait."""
        slow: Deferred[Taken] = Deferred()
        self.traces.answers.append(slow)
        self.answered(25)
        self.turn()
        self.assertEqual((self.sent(), len(self.harness.queue)), ([], 15))
        slow.callback(Taken())
        self.turn()
        self.assertEqual(self.sent(), [10])
        self.clock.advance(5)
        self.turn()
        self.assertEqual(self.sent(), [10, 5])

    def test_away(self) -> None:
        """While the collector is away, the same spans are sent again, ever more seldom."""
        self.traces.answers += [AWAY] * 7
        self.answered(10)
        self.turn()
        for pause in (1, 2, 4, 8, 16, LONGEST_PAUSE):
            self.clock.advance(pause - 0.5)
            self.assertEqual(self.sent(), [])
            self.clock.advance(0.5)
        self.assertEqual(self.sent(), [])
        self.clock.advance(LONGEST_PAUSE)
        self.assertEqual((self.sent(), self.harness.queue.dropped), ([10], 0))

    def test_bound(self) -> None:
        """What finds no room meanwhile is dropped and counted."""
        self.traces.answers.append(AWAY)
        self.answered(10)
        self.turn()
        self.answered(130)
        self.assertEqual((len(self.harness.queue), self.harness.queue.dropped), (100, 30))
        self.clock.advance(1)
        self.turn()
        self.assertEqual(sum(self.sent()), 110)

    def test_refused(self) -> None:
        """What the collector refuses is dropped, and the next batch is sent."""
        self.traces.answers.append(NotSentError("it answers with status 400", again=False))
        self.answered(20)
        self.turn()
        self.assertEqual((self.sent(), self.harness.queue.dropped), ([10], 10))

    def test_rejected(self) -> None:
        """A collector that takes a part says how much."""
        self.traces.rejected = 4
        self.harness.exporter.writer.redact_text = Redactor().text
        self.traces.message = "token=abc is too old"
        self.answered(10)
        with capturedLogs() as said:
            self.turn()
        self.assertEqual(self.sent(), [10])
        text = " ".join(map(eventAsText, said))
        self.assertIn("is too old", text)
        self.assertNotIn("abc", text)

    def test_metrics(self) -> None:
        """Metrics are sent at their interval; a failure is not repeated before the next time."""
        self.harness.decisions.append(("fulfill", "api.test", 3))
        metrics = self.harness.metrics
        metrics.answers.append(AWAY)
        self.clock.advance(60)
        self.assertEqual(metrics.bodies, [])
        self.clock.advance(60)
        (body,) = metrics.bodies
        (point,) = metrics_of(body)["trafficmock.requests"].sum.data_points
        self.assertEqual(point.as_int, 3)

    def test_stop(self) -> None:
        """At the end all that is open or waits is sent, with the metrics; no timer is left."""
        self.answered(13)
        self.harness.record(
            records.TestBegan("t1", "pays", "", None),
            records.RequestSeen("open", "shop", request()),
            records.SocketSeen("s", "shop", "ws://h.test/", []),
        )
        self.successResultOf(Deferred.fromCoroutine(self.exporter.stop()))
        self.assertEqual(self.sent(), [10, 6])
        decisions = [
            attributes(span.attributes).get("trafficmock.decision")
            for span in spans_of(self.traces.bodies[1])
        ]
        self.assertEqual(decisions[-3:], ["pending", "pending", None])
        self.assertEqual(len(self.harness.metrics.bodies), 1)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_stop_while_away(self) -> None:
        """Each batch is tried once more; then the spans are given up, and counted."""
        self.traces.answers += [AWAY] * 9
        self.answered(25)
        self.turn()
        self.successResultOf(Deferred.fromCoroutine(self.exporter.stop()))
        self.assertEqual((self.sent(), self.harness.queue.dropped), ([], 25))
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_stop_while_it_hangs(self) -> None:
        """A collector that does not answer holds the end up for a few seconds at most."""
        self.traces.answers.append(Deferred())
        self.answered(13)
        self.turn()
        stopped = Deferred.fromCoroutine(self.exporter.stop())
        self.assertNoResult(stopped)
        self.clock.advance(FLUSH_SECONDS)
        self.successResultOf(stopped)
        self.assertEqual(self.harness.queue.dropped, 13)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_failure_of_ours(self) -> None:
        """An error of the writer is logged; the export goes on."""
        self.patch(type(self.exporter.writer), "fields", _fail)
        self.answered(10)
        self.turn()
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
        self.assertEqual(self.sent(), [])


class WriterTests(SynchronousTestCase):
    """How the exporter gets its records."""

    def test_after_history(self) -> None:
        """A record goes to the history first; those of tests only here."""
        harness, kept = Harness(), list[Any]()
        history: Any = {records.RequestSeen: lambda record, at: kept.append((record, at))}
        writers = harness.exporter.writers(history)
        seen = records.RequestSeen("q", "shop", request())
        writers[records.RequestSeen](seen, 5)
        self.assertEqual(kept, [(seen, 5)])
        self.assertIn("q", harness.exporter.parts[0].undecided)
        self.assertIn(records.TestBegan, writers)

    def test_times(self) -> None:
        """The clock tells the time of a record; one of the past has its own."""
        harness, begun = Harness(), {}
        for dated in (False, True):
            write = harness.exporter.writers({}, dated=dated)[records.RequestSeen]
            write(records.RequestSeen(str(dated), "shop", request()), 5)
            begun[dated] = harness.exporter.parts[0].undecided[str(dated)][START]
        self.assertEqual(begun, {False: harness.now(), True: 5 * MS})


def _fail(*_: object) -> bytes:
    raise ZeroDivisionError
