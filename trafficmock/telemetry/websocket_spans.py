"""Makes the spans of WebSockets from their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from trafficmock import records
from trafficmock.telemetry.finished_span import START, SpanEvent, TrafficSpan
from trafficmock.telemetry.span_queue import SpanQueue
from trafficmock.telemetry.traffic_metrics import TrafficMetrics

MOST_OPEN = 2000
"""The most open WebSockets; the oldest is exported as it is."""


@define(eq=False)
class SocketSpans:
    """Follows each WebSocket until the application's side is closed, or it fails.

    The arguments are those of :class:`~trafficmock.telemetry.request_spans.RequestSpans`.
    """

    queue: SpanQueue | None
    metrics: TrafficMetrics
    most_events: int
    open: dict[str, TrafficSpan] = field(factory=dict)

    def writers(self) -> dict[type, Callable[[Any, int], None]]:
        """Return the function for each type of record; it also gets the time in epoch ns."""
        return {
            records.SocketSeen: self._seen,
            records.SocketOwned: self._owned,
            records.SocketPassedThrough: self._passed_through,
            records.SocketFailed: self._failed,
            records.SocketActivity: self._activity,
            records.SocketClosed: self._closed,
        }

    def end_all(self, at: int) -> None:
        """Export all WebSockets as they are.

        :param at: epoch nanoseconds.
        """
        for span in list(self.open.values()):
            self._end(span, at)

    def _seen(self, record: records.SocketSeen, now: int) -> None:
        earlier = self.open.get(record.socket_id)
        if earlier is not None:
            self._end(earlier, now)
        begun = record.client_id, "GET", record.url, now, None, record.carried, 0
        self.open[record.socket_id] = TrafficSpan(record.socket_id, begun, is_socket=True)
        if len(self.open) > MOST_OPEN:
            self._end(next(iter(self.open.values())), now)

    def _decided(self, span: TrafficSpan, decision: str, now: int) -> None:
        span.decision, span.took = decision, now - span.begun[START]
        self.metrics.decided(decision, span.took)

    def _owned(self, record: records.SocketOwned, now: int) -> None:
        span = self.open.get(record.socket_id)
        if span is not None and not span.decision:
            span.owner = record.owner
            self._decided(span, "matched", now)

    def _passed_through(self, record: records.SocketPassedThrough, now: int) -> None:
        span = self.open.get(record.socket_id)
        if span is not None and not span.decision:
            self._decided(span, "passthrough", now)

    def _failed(self, record: records.SocketFailed, now: int) -> None:
        span = self.open.get(record.socket_id)
        if span is None:
            return
        span.owner = record.owner or span.owner
        span.error_type, span.error = record.code, record.message
        if not span.decision:
            self._decided(span, "error", now)
        self._end(span, now)

    def _activity(self, record: records.SocketActivity, now: int) -> None:
        span = self.open.get(record.socket_id)
        if span is None or record.kind != "frame":
            return
        data = record.data or ""
        size = len(data) * 3 // 4 if record.is_base64 else len(data)
        event = SpanEvent(now, "message", record.direction, size)
        span.add_event(event, self.most_events)

    def _closed(self, record: records.SocketClosed, now: int) -> None:
        span = self.open.get(record.socket_id)
        if span is not None and record.side == "page":
            self._end(span, now)

    def _end(self, span: TrafficSpan, now: int) -> None:
        del self.open[span.id]
        if self.queue is not None:
            self.queue.put(span.values(now))
