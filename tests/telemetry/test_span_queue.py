"""The spans that wait."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.span_queue import SpanQueue


class SpanQueueTests(SynchronousTestCase):
    """A bound, batches, and a count of what was dropped."""

    def test_bound(self) -> None:
        """What finds no room is dropped and counted; the older spans stay."""
        queue = SpanQueue(limit=2, batch=2)
        one, two, three = (object() for _ in range(3))
        spans: Any = (one, two, three)
        for span in spans:
            queue.put(span)
        self.assertEqual((len(queue), queue.dropped), (2, 1))
        self.assertEqual(queue.take(), [one, two])

    def test_calls(self) -> None:
        """The first span and each of a full batch are told."""
        told: list[int] = []
        queue = SpanQueue(limit=9, batch=3)
        queue.on_batch = lambda: told.append(len(queue))
        span: Any = object()
        for _ in range(4):
            queue.put(span)
        self.assertEqual(told, [1, 3, 4])

    def test_clear(self) -> None:
        """What is given up counts as dropped."""
        queue = SpanQueue(limit=9, batch=3)
        span: Any = object()
        queue.put(span)
        queue.clear()
        self.assertEqual((len(queue), queue.dropped), (0, 1))
