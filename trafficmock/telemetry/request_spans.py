"""Makes the spans of HTTP requests from their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field
from msgspec import UNSET

from trafficmock import records
from trafficmock.records import Owner
from trafficmock.telemetry.finished_span import RESENDS, START, Beginning, SpanEvent, TrafficSpan
from trafficmock.telemetry.otlp.span_message import FIRST_ERROR
from trafficmock.telemetry.span_queue import SpanQueue
from trafficmock.telemetry.trace_parent import trace_parent
from trafficmock.telemetry.traffic_metrics import TrafficMetrics

MOST_OPEN = 10_000
"""The most requests without a decision, and the most decided ones that are not over; the oldest is
exported as it is. An agent may never report what became of a request."""

OTHER_ERROR = "_OTHER"
"""``error.type`` of an error without a code (semantic conventions)."""


@define(eq=False)
class RequestSpans:
    """Follows each request from its record :class:`~trafficmock.records.RequestSeen` to its end.

    :param queue: takes the spans that are over; ``None`` where only metrics are exported.
    :param metrics: counts the times until decisions.
    :param most_events: of one span (``OTEL_SPAN_EVENT_COUNT_LIMIT``).
    :ivar undecided: the requests without a decision, by id.
    :ivar open: the decided ones that are not over.
    """

    queue: SpanQueue | None
    metrics: TrafficMetrics
    most_events: int
    undecided: dict[str, Beginning] = field(factory=dict, repr=False)
    open: dict[str, TrafficSpan] = field(factory=dict)
    _until_mock: list[int] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._until_mock = self.metrics.uncounted("fulfill")

    def writers(self) -> dict[type, Callable[[Any, int], None]]:
        """Return the function for each type of record; it also gets the time in epoch ns."""
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
        for request_id in [*self.open, *self.undecided]:
            self._end_early(request_id, at)

    def _end_early(self, request_id: str, now: int) -> None:
        """End a request as it is, whether it is decided or not."""
        begun = self.undecided.pop(request_id, None)
        span = self.open.pop(request_id) if begun is None else TrafficSpan(request_id, begun)
        self._end(span, now)

    def _seen(self, record: records.RequestSeen, now: int) -> None:
        request, request_id, undecided = record.request, record.request_id, self.undecided
        headers, prior_id = request.headers, record.redirected_from
        resends = 0 if prior_id is None else self._resends(prior_id)
        if request_id in undecided or request_id in self.open:
            self._end_early(request_id, now)
        undecided[request_id] = (
            record.client_id,
            request.method,
            request.url,
            now,
            trace_parent(headers) if "traceparent" in headers else None,
            record.carried,
            resends,
        )
        if len(undecided) > MOST_OPEN:
            self._end_early(next(iter(undecided)), now)

    def _hop_seen(self, record: records.HopSeen, now: int) -> None:
        first = records.RequestSeen(
            record.request_id,
            record.client_id,
            record.request,
            redirected_from=record.prior_id,
            carried=record.carried,
        )
        self._seen(first, now)
        self._sent_on(record.request_id, record.action, record.owner, now)

    def _resends(self, prior_id: str) -> int:
        """Return the number of a hop after a request, which may be over already."""
        prior = self.open.get(prior_id)
        begun = self.undecided.get(prior_id) if prior is None else prior.begun
        return 1 if begun is None else begun[RESENDS] + 1

    def _decided(
        self, request_id: str, decision: str, owner: Owner | None, now: int
    ) -> TrafficSpan | None:
        """Return a request that is decided now; ``None`` for one that was, or is not known."""
        begun = self.undecided.pop(request_id, None)
        if begun is None:
            return None
        took = now - begun[START]
        self.metrics.decided(decision, took)
        return TrafficSpan(request_id, begun, decision, took, owner)

    def _sent_on(self, request_id: str, decision: str, owner: Owner | None, now: int) -> None:
        """Keep a request that goes to its server, until its response is known."""
        span = self._decided(request_id, decision, owner, now)
        if span is not None:
            self._keep(span, now)

    def _keep(self, span: TrafficSpan, now: int) -> None:
        """Keep a request that is decided until it is over."""
        self.open[span.id] = span
        if len(self.open) > MOST_OPEN:
            self._end_early(next(iter(self.open)), now)

    def _passed_through(self, record: records.RequestPassedThrough, now: int) -> None:
        self._sent_on(record.request_id, "passthrough", None, now)

    def _continued(self, record: records.RequestContinued, now: int) -> None:
        self._sent_on(record.request_id, "continue", record.owner, now)

    def _fulfilled(self, record: records.RequestFulfilled, now: int) -> None:
        request_id, owner, status = record.request_id, record.owner, record.response.status
        begun = self.undecided.pop(request_id, None)
        if begun is None:
            return
        client_id, method, url, start, parent, carried, resends = begun
        took, queue = now - start, self.queue
        if (
            queue is None
            or not 0 < len(queue.traffic) < queue.calm
            or record.body_pending
            or status >= FIRST_ERROR
            or resends
            or (carried is not None and carried.late)
            or took < 0
        ):
            self.metrics.decided("fulfill", took)
            span = TrafficSpan(request_id, begun, "fulfill", took, owner, status)
            if record.body_pending:
                self._keep(span, now)
            else:
                self._end(span, now)
            return
        # Most requests of tests end here, without a further call: see TrafficSpan.values.
        self._until_mock.append(took)
        queue.traffic.append(
            (
                client_id,
                method,
                "fulfill",
                status,
                "",
                request_id,
                url,
                start,
                now,
                took,
                owner,
                carried,
                parent,
                None,
            )
        )

    def _piece_sent(self, record: records.StreamPieceSent, now: int) -> None:
        if (span := self.open.get(record.request_id)) is not None:
            span.add_event(SpanEvent(now, "piece", "", record.size), self.most_events)

    def _stream_ended(self, record: records.StreamEnded, now: int) -> None:
        if (span := self.open.pop(record.request_id, None)) is not None:
            if record.failure is not None:
                span.error_type, span.error = "broken_off", record.failure
            self._end(span, now)

    def _aborted(self, record: records.RequestAborted, now: int) -> None:
        self._broken(record, "abort", record.error_code, record.detail, now)

    def _failed(self, record: records.RequestFailed, now: int) -> None:
        self._broken(record, "error", record.code, record.message, now)

    def _broken(
        self,
        record: records.RequestAborted | records.RequestFailed,
        decision: str,
        kind: str,
        text: str,
        now: int,
    ) -> None:
        """End a request that gets no response.

        :param kind: ``error.type``.
        """
        span = self._decided(record.request_id, decision, record.owner, now)
        if span is not None:
            span.error_type, span.error = kind, text or kind
            self._end(span, now)

    def _reported(self, record: records.ResponseReported, now: int) -> None:
        """End a request that was sent to its server; a head alone only tells the status.

        A report before the decision is of no response that the application got.
        """
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
            del self.open[record.request_id]
            self._end(span, now)

    def _end(self, span: TrafficSpan, now: int) -> None:
        if span.status >= FIRST_ERROR and not span.error_type:
            span.error_type = str(span.status)
        if self.queue is not None:
            self.queue.put(span.values(now))
