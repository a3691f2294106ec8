"""Makes the spans of tests, which are the parents of their traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from trafficmock import records
from trafficmock.telemetry.finished_span import TestSpan
from trafficmock.telemetry.otlp.span_message import trace_below
from trafficmock.telemetry.span_queue import SpanQueue
from trafficmock.telemetry.trace_parent import TraceParent

MOST_ENDED = 1000
"""The most ended tests that are kept, for traffic that is over after them."""


@define(eq=False)
class SpansOfTests:
    """Knows the span of each test.

    A test with a context has it as its trace id, with the second half of it as its span id: that is
    the parent that a test's own requests name in ``traceparent``, and so the application's spans
    are in the trace of the test.

    :param queue: as in :class:`~trafficmock.telemetry.request_spans.RequestSpans`.
    :param new_id: returns that many random bytes.
    :ivar traces: what stands before the ids of the spans below each test, by its id.
    """

    queue: SpanQueue | None
    new_id: Callable[[int], bytes]
    _running: dict[str, TestSpan] = field(factory=dict)
    traces: dict[str | None, bytes] = field(factory=dict, repr=False)
    _ended: dict[str, None] = field(factory=dict)

    def writers(self) -> dict[type, Callable[[Any, int], None]]:
        """Return the function for each type of record; it also gets the time in epoch ns."""
        return {records.TestBegan: self._began, records.TestEnded: self._test_ended}

    def end_all(self, at: int) -> None:
        """Export all running tests, without a result.

        :param at: epoch nanoseconds.
        """
        for test in list(self._running.values()):
            self._end(test, at)

    def _began(self, record: records.TestBegan, now: int) -> None:
        if record.shared:
            return
        test_id = record.test_id
        trace_id = bytes.fromhex(record.context) if record.context else self.new_id(16)
        span_id = trace_id[8:] if record.context and any(trace_id[8:]) else self.new_id(8)
        self._running[test_id] = TestSpan(
            test_id=test_id,
            title=record.title,
            file=record.file,
            trace_id=trace_id,
            span_id=span_id,
            start=now,
        )
        self.traces[test_id] = trace_below(TraceParent(trace_id, span_id))
        self._ended.pop(test_id, None)

    def _test_ended(self, record: records.TestEnded, now: int) -> None:
        test = self._running.get(record.test_id)
        if test is not None:
            test.passed = record.passed
            self._end(test, now)

    def _end(self, test: TestSpan, now: int) -> None:
        del self._running[test.test_id]
        test.end = now
        self._ended[test.test_id] = None
        if len(self._ended) > MOST_ENDED:
            oldest = next(iter(self._ended))
            del self._ended[oldest], self.traces[oldest]
        if self.queue is not None:
            self.queue.put_test(test)
