"""Exports spans and metrics: collects, batches, sends, and flushes at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.logger import Logger

from trafficmock.http.log_safety import one_line
from trafficmock.telemetry.otlp.metric_message import resource_metrics
from trafficmock.telemetry.otlp.span_message import SpanWriter, scope_spans
from trafficmock.telemetry.otlp_client import Collector, NotSentError
from trafficmock.telemetry.request_spans import RequestSpans
from trafficmock.telemetry.span_queue import SpanQueue
from trafficmock.telemetry.spans_of_tests import SpansOfTests
from trafficmock.telemetry.traffic_metrics import TrafficMetrics
from trafficmock.telemetry.websocket_spans import SocketSpans

if TYPE_CHECKING:
    from twisted.internet.interfaces import IDelayedCall
    from twisted.python.failure import Failure

RecordWriter = Callable[[Any, int], None]
"""Takes a record, and its time in epoch milliseconds."""

_NS_OF_MS = 1_000_000

FLUSH_SECONDS = 5.0
"""The most time that the export takes when the service stops."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds before data is sent again; each pause is twice as long as the one before."""

_AT_ONCE = 256
"""The spans that are written in one turn of the reactor: a millisecond at most."""


@define(eq=False, kw_only=True)
class Exporter:
    """Exports what the records of the core tell.

    One request to a collector is on its way at a time. While a collector is away, its data waits
    in the queue, and what finds no room there is dropped and counted.

    :param traces: the collector of spans; ``None`` for no spans.
    :param metrics: the collector of metrics; ``None`` for none.
    :param queue: the spans that are over.
    :param parts: make spans of the records of requests, WebSockets and tests.
    :param now: returns epoch nanoseconds.
    :param delay: seconds that a span waits for others.
    :param interval: seconds between two exports of metrics.
    """

    log = Logger()

    traces: Collector | None
    metrics: Collector | None
    queue: SpanQueue
    counts: TrafficMetrics
    parts: tuple[RequestSpans, SocketSpans, SpansOfTests]
    writer: SpanWriter
    resource: bytes = field(repr=False)
    scope: bytes = field(repr=False)
    reactor: Any
    now: Callable[[], int]
    delay: float
    interval: float
    _started: int = field(init=False)
    _sending: Deferred[None] | None = None
    _due: IDelayedCall | None = None
    _next_metrics: IDelayedCall | None = None
    _pause: Deferred[None] | None = None
    _stopping: bool = False
    _given_up: bool = False
    _away: set[str] = field(factory=set)
    _in_hand: int = 0

    def __attrs_post_init__(self) -> None:
        self._started = self.now()
        self.queue.on_batch = self._has_spans
        if self.metrics is not None:
            self._next_metrics = self.reactor.callLater(self.interval, self._metrics_due)

    @property
    def addresses(self) -> list[str]:
        """The URLs to which data is sent."""
        return [each.shown for each in (self.traces, self.metrics) if each is not None]

    def writers(
        self, history: Mapping[type, RecordWriter], *, dated: bool = False
    ) -> dict[type, RecordWriter]:
        """Return the function for each type of record; it also gets the time in epoch ms.

        :param history: the functions of the history, which come first.
        :param dated: for records of the past: their own time counts, in place of the clock.
        """
        requests, sockets, tests = self.parts
        own = requests.writers() | sockets.writers() | tests.writers()
        made = {}
        for kind, write in own.items():
            first = history.get(kind, _nothing)
            made[kind] = _dated(first, write) if dated else _now(first, write, self.now)
        return made

    def _has_spans(self) -> None:
        """Send what waits: a whole batch at once, less than that after the delay."""
        if self._sending is not None or self._stopping:
            return
        wait = 0.0 if len(self.queue) >= self.queue.batch else self.delay
        if self._due is None:
            self._due = self.reactor.callLater(wait, self._begin)
        elif not wait and self._due.getTime() > self.reactor.seconds():
            self._due.reset(0)

    def _begin(self) -> None:
        self._due = None
        self._sending = Deferred.fromCoroutine(self._send_spans())
        self._sending.addErrback(self._unexpected).addCallback(self._sent)

    def _unexpected(self, failure: Failure) -> None:
        if not failure.check(CancelledError):
            self.log.failure("OTLP: the export failed", failure=failure)

    def _sent(self, _: object) -> None:
        self._sending = None
        if len(self.queue):
            self._has_spans()

    async def _send_spans(self) -> None:
        """Send all batches that are whole, and one that is not."""
        while not self._given_up and (batch := self.queue.take()):
            self._in_hand = count = len(batch)
            fields: list[bytes] = []
            for part in batch.parts(_AT_ONCE):
                fields.append(self.writer.fields(part))
                if not self._stopping:
                    await deferLater(self.reactor, 0)
            if self.traces is not None:
                body = scope_spans(fields, self.resource, self.scope)
                if not await self._deliver(self.traces, body):
                    self.queue.dropped += count
            self._in_hand = 0
            if len(self.queue) < self.queue.batch and not self._stopping:
                return

    def _metrics_due(self) -> None:
        self._next_metrics = self.reactor.callLater(self.interval, self._metrics_due)
        sending = Deferred.fromCoroutine(self._send_metrics())
        sending.addErrback(self._unexpected)

    async def _send_metrics(self) -> None:
        if self.metrics is not None:
            times = self._started, self.now()
            body = resource_metrics(self.counts, times, self.resource, self.scope)
            await self._deliver(self.metrics, [body], again=False)

    async def _deliver(
        self, collector: Collector, body: list[bytes], *, again: bool = True
    ) -> bool:
        """Send data until the collector takes it, or refuses it, or the service stops.

        :param body: the data, in parts.
        :param again: whether to try again; metrics have the same counts next time.
        :returns: whether it took the data.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                taken = await collector.send(body)
            except NotSentError as error:
                self._failed(collector, error)
                if self._stopping or not error.again or not again:
                    return False
            except CancelledError:
                return False
            else:
                self._worked(collector)
                if taken.rejected:
                    self.log.warn(
                        "OTLP: {url} rejected {count}: {said}",
                        url=collector.shown,
                        count=taken.rejected,
                        said=one_line(self.writer.redact_text(taken.message)),
                    )
                return True
            await self._wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _wait(self, seconds: float) -> None:
        """Wait, until the service stops at the latest."""
        self._pause = deferLater(self.reactor, seconds)
        try:
            await self._pause
        except CancelledError:
            pass
        finally:
            self._pause = None

    def _failed(self, collector: Collector, error: NotSentError) -> None:
        """Log the first of several failures."""
        if collector.shown not in self._away:
            self._away.add(collector.shown)
            self.log.warn(
                "OTLP: cannot export to {url}: {why}. Up to {most} spans wait for it.",
                url=collector.shown,
                why=one_line(self.writer.redact_text(str(error))),
                most=self.queue.limit,
            )

    def _worked(self, collector: Collector) -> None:
        if collector.shown in self._away:
            self._away.discard(collector.shown)
            self.log.info(
                "OTLP: the export to {url} works again; spans dropped so far: {count}",
                url=collector.shown,
                count=self.queue.dropped,
            )

    async def stop(self) -> None:
        """End all spans, and export what waits; after :data:`FLUSH_SECONDS` the rest is dropped."""
        now = self.now()
        for part in self.parts:
            part.end_all(now)
        self._stopping = True
        for call in (self._due, self._next_metrics):
            if call is not None and call.active():
                call.cancel()
        if self._pause is not None:
            self._pause.cancel()
        flushing = Deferred.fromCoroutine(self._flush())
        flushing.addErrback(self._unexpected)
        deadline = self.reactor.callLater(FLUSH_SECONDS, self._give_up, flushing)
        await flushing
        if deadline.active():
            deadline.cancel()
        self.queue.clear()
        self.queue.dropped += self._in_hand
        if self.queue.dropped and self.traces is not None:
            self.log.warn(
                "OTLP: {count} spans were not exported to {url}",
                count=self.queue.dropped,
                url=self.traces.shown,
            )

    async def _flush(self) -> None:
        if self._sending is not None:
            await self._sending
        await self._send_spans()
        if not self._given_up:
            await self._send_metrics()

    def _give_up(self, flushing: Deferred[None]) -> None:
        self._given_up = True
        flushing.cancel()


def _nothing(_: Any, at: int) -> None:
    """Stand for the history where it does not keep a record."""


def _now(first: RecordWriter, other: RecordWriter, now: Callable[[], int]) -> RecordWriter:
    def write(record: Any, at: int) -> None:
        first(record, at)
        other(record, now())

    return write


def _dated(first: RecordWriter, other: RecordWriter) -> RecordWriter:
    def write(record: Any, at: int) -> None:
        first(record, at)
        other(record, at * _NS_OF_MS)

    return write
