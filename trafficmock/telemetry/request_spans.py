"""Makes the spans of HTTP requests from their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field
from msgspec import UNSET

from trafficmock import records
from trafficmock.telemetry.finished_span import SpanEvent, TrafficSpan
from trafficmock.telemetry.otlp.span_message import failed_status
from trafficmock.telemetry.trace_parent import trace_parent

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.telemetry.span_queue import SpanQueue
    from trafficmock.telemetry.traffic_metrics import TrafficMetrics

MOST_OPEN = 10_000
"""The most requests that are not over; the oldest is exported as it is. An agent may never report
what became of a request."""

OTHER_ERROR = "_OTHER"
"""``error.type`` of an error without a code (semantic conventions)."""


@define(eq=False)
class RequestSpans:
    """Follows each request from its record :class:`~trafficmock.records.RequestSeen` to its end.

    :param queue: takes the spans that are over; ``None`` where only metrics are exported.
    :param metrics: counts decisions.
    :param exact: returns epoch nanoseconds for the epoch milliseconds of a record.
    :param most_events: of one span (``OTEL_SPAN_EVENT_COUNT_LIMIT``).
    """

    queue: SpanQueue | None
    metrics: TrafficMetrics
    exact: Callable[[int], int]
    most_events: int
    open: dict[str, TrafficSpan] = field(factory=dict)

    def writers(self) -> dict[type, Callable[[Any, int], None]]:
        """Return the function for each type of record; it also gets the time in epoch ms."""
        return {
            records.RequestSeen: self._seen,
            records.RequestPassedThrough: self._passed_through,
            records.RequestContinued: self._continued,
            records.RequestFulfilled: self._fulfilled,
            records.StreamPieceSent: self._piece_sent,
            records.StreamEnded: self._stream_ended,
            records.RequestAborted: self._aborted,
            records.RequestFailed: self._failed,
            records.ResponseReported: self._reported,
            records.HopSeen: self._hop_seen,
        }

    def end_all(self, at: int) -> None:
        """Export all requests as they are.

        :param at: epoch nanoseconds.
        """
        for span in list(self.open.values()):
            self._end(span, at)

    def _seen(self, record: records.RequestSeen, at: int) -> None:
        prior = record.redirected_from
        self._begin(record, at, 0 if prior is None else self._resends(prior))

    def _begin(
        self, record: records.RequestSeen | records.HopSeen, at: int, resends: int
    ) -> TrafficSpan:
        request, now, named = record.request, self.exact(at), record.request.headers
        span = TrafficSpan(
            id=record.request_id,
            client_id=record.client_id,
            method=request.method,
            url=request.url,
            start=now,
            parent=trace_parent(named) if "traceparent" in named else None,
            carried=record.carried,
            resends=resends,
        )
        earlier = self.open.get(record.request_id)
        if earlier is not None:
            self._end(earlier, now)
        self.open[record.request_id] = span
        if len(self.open) > MOST_OPEN:
            self._end(next(iter(self.open.values())), now)
        return span

    def _hop_seen(self, record: records.HopSeen, at: int) -> None:
        span = self._begin(record, at, self._resends(record.prior_id))
        span.owner = record.owner
        self._decided(span, record.action, span.start)

    def _resends(self, prior_id: str) -> int:
        """Return the number of a hop after a request, which may be over already."""
        prior = self.open.get(prior_id)
        return 1 if prior is None else prior.resends + 1

    def _decided(self, span: TrafficSpan, decision: str, now: int) -> None:
        span.decision = decision
        span.decided_at = now
        self.metrics.decided(decision, span.url, now - span.start)

    def _undecided(self, request_id: str) -> TrafficSpan | None:
        span = self.open.get(request_id)
        return span if span is not None and not span.decision else None

    def _passed_through(self, record: records.RequestPassedThrough, at: int) -> None:
        if (span := self._undecided(record.request_id)) is not None:
            self._decided(span, "passthrough", self.exact(at))

    def _continued(self, record: records.RequestContinued, at: int) -> None:
        if (span := self._undecided(record.request_id)) is not None:
            span.owner = record.owner
            self._decided(span, "continue", self.exact(at))

    def _fulfilled(self, record: records.RequestFulfilled, at: int) -> None:
        if (span := self._undecided(record.request_id)) is None:
            return
        span.owner, span.status = record.owner, record.response.status
        now = self.exact(at)
        self._decided(span, "fulfill", now)
        if not record.body_pending:
            self._end(span, now)

    def _piece_sent(self, record: records.StreamPieceSent, at: int) -> None:
        if (span := self.open.get(record.request_id)) is not None:
            span.add_event(SpanEvent(self.exact(at), "piece", "", record.size), self.most_events)

    def _stream_ended(self, record: records.StreamEnded, at: int) -> None:
        if (span := self.open.get(record.request_id)) is not None:
            if record.failure is not None:
                span.error_type, span.error = "broken_off", record.failure
            self._end(span, self.exact(at))

    def _aborted(self, record: records.RequestAborted, at: int) -> None:
        if (span := self._undecided(record.request_id)) is not None:
            span.owner = record.owner
            self._broken(span, "abort", record.error_code, record.detail, self.exact(at))

    def _failed(self, record: records.RequestFailed, at: int) -> None:
        if (span := self._undecided(record.request_id)) is not None:
            span.owner = record.owner
            self._broken(span, "error", record.code, record.message, self.exact(at))

    def _broken(self, span: TrafficSpan, decision: str, kind: str, text: str, now: int) -> None:
        span.error_type, span.error = kind, text or kind
        self._decided(span, decision, now)
        self._end(span, now)

    def _reported(self, record: records.ResponseReported, at: int) -> None:
        """End a request that was sent to its server; a head alone only tells the status."""
        span = self.open.get(record.request_id)
        if span is None:
            return
        response, error = record.response, record.error
        if response is not None:
            span.status = response.status
        if error is not None:
            code = error.code
            span.error_type = OTHER_ERROR if code is UNSET else code
            span.error = error.message
        if not record.body_pending:
            self._end(span, self.exact(at))

    def _end(self, span: TrafficSpan, now: int) -> None:
        del self.open[span.id]
        span.end = now
        if not span.error_type:
            span.error_type = failed_status(span.status)
        if self.queue is not None:
            self.queue.put(span)
