"""A collector in memory, and an exporter that sends to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock

from trafficmock import records
from trafficmock.telemetry.exporter import Exporter
from trafficmock.telemetry.otlp.protobuf import attribute, fields, text
from trafficmock.telemetry.otlp.span_message import SpanWriter
from trafficmock.telemetry.otlp_client import Taken
from trafficmock.telemetry.request_spans import RequestSpans
from trafficmock.telemetry.span_queue import SpanQueue
from trafficmock.telemetry.spans_of_tests import SpansOfTests
from trafficmock.telemetry.traffic_metrics import TrafficMetrics
from trafficmock.telemetry.websocket_spans import SocketSpans

EPOCH_MS = 1_700_000_000_000
MS = 1_000_000
OWNER = records.Owner("t1", "r1", "pays", "tests/test_pay.py")


@define(eq=False)
class FakeCollector:
    """Keeps what it is sent.

    :param answers: what happens to the next sendings: an error, or a Deferred; else they are taken.
    """

    shown: str = "http://collector.test:4318/v1/traces"
    bodies: list[bytes] = field(factory=list)
    answers: list[Any] = field(factory=list)
    rejected: int = 0
    message: str = "too old"

    def send(self, body: Sequence[bytes]) -> Deferred[Taken]:
        answer = self.answers.pop(0) if self.answers else Taken(self.rejected, self.message)
        if isinstance(answer, Exception):
            failed: Deferred[Taken] = Deferred()
            failed.errback(answer)
            return failed
        if isinstance(answer, Deferred):
            return answer
        self.bodies.append(b"".join(body))
        return succeed(answer)


def new_id(size: int) -> bytes:
    """Return an id that tests know."""
    return b"\xab" * size


@define(eq=False)
class Harness:
    """An exporter, its clock and its collectors.

    :param redact_urls: stands for the redaction of URLs, ``redact_text`` for that of texts.
    """

    redact_urls: Callable[[Sequence[str]], Sequence[str]] = lambda urls: [
        url.replace("secret", "…") for url in urls
    ]
    redact_text: Callable[[str], str] = str
    limit: int = 100
    batch: int = 10
    most_events: int = 3
    longest: int | None = None
    decisions: list[Any] = field(factory=list)
    clock: Clock = field(factory=Clock)
    traces: FakeCollector = field(factory=FakeCollector)
    metrics: FakeCollector = field(factory=FakeCollector)
    queue: SpanQueue = field(init=False)
    exporter: Exporter = field(init=False)
    writers: dict[type, Any] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.queue = SpanQueue(self.limit, self.batch)
        counts = TrafficMetrics(lambda: self.decisions)
        parts = (
            RequestSpans(self.queue, counts, self.most_events),
            SocketSpans(self.queue, counts, self.most_events),
            SpansOfTests(self.queue, new_id),
        )
        collectors: Any = self.traces, self.metrics
        self.exporter = Exporter(
            traces=collectors[0],
            metrics=collectors[1],
            queue=self.queue,
            counts=counts,
            parts=parts,
            writer=SpanWriter(
                new_id, parts[2].traces, self.redact_urls, self.redact_text, self.longest
            ),
            resource=attribute(1, "service.name", "shop-tests"),
            scope=text(1, "trafficmock"),
            reactor=self.clock,
            now=self.now,
            delay=5.0,
            interval=60.0,
        )
        self.writers = self.exporter.writers({}, dated=True)

    def now(self) -> int:
        """Return the time of the clock, in epoch nanoseconds."""
        return EPOCH_MS * MS + round(self.clock.seconds() * 1e9)

    def record(self, *told: Any, at: int = EPOCH_MS) -> None:
        """Let records come, each a millisecond after the one before."""
        for number, record in enumerate(told):
            self.writers[type(record)](record, at + number)

    def written(self) -> list[bytes]:
        """Take what waits in the queue, as messages."""
        found = []
        while len(batch := self.queue.take()):
            written = fields(self.exporter.writer.fields(batch))
            found += [message for _, message in written if isinstance(message, bytes)]
        return found
