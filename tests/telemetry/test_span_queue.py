"""The spans that wait."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.finished_span import TestSpan
from trafficmock.telemetry.span_queue import SpanQueue


def span(number: int) -> Any:
    """Make the values of a span."""
    return (number,) * 14


def of_test(number: int) -> TestSpan:
    return TestSpan(test_id=str(number), title="", file="", trace_id=b"", span_id=b"", start=1)


def ids(batch: Any) -> list[int]:
    """Return the numbers of the spans of a batch."""
    return [*(each[0] for each in batch.traffic), *(int(each.test_id) for each in batch.tests)]


class SpanQueueTests(SynchronousTestCase):
    """A bound, batches, and a count of what was dropped."""

    def test_bound(self) -> None:
        """What finds no room is dropped and counted; the older spans stay."""
        queue = SpanQueue(limit=2, batch=2)
        for number in range(3):
            queue.put(span(number))
        queue.put_test(of_test(3))
        self.assertEqual((len(queue), queue.dropped), (2, 2))
        self.assertEqual(ids(queue.take()), [0, 1])

    def test_bound_of_tests(self) -> None:
        """Tests take room, too."""
        for limit, batch in ((3, 9), (3, 3), (3, 2)):
            queue = SpanQueue(limit, batch)
            queue.put_test(of_test(0))
            for number in range(1, 5):
                queue.put(span(number))
            self.assertEqual((len(queue), queue.dropped), (3, 2))
            first, second = ids(queue.take()), ids(queue.take())
            self.assertEqual([*first, *second], [1, 2, 0])
            self.assertEqual(len(first), min(batch, 3))
            queue.put(span(5))
            self.assertEqual((ids(queue.take()), queue.dropped), ([5], 2))

    def test_calls(self) -> None:
        """The first span and each of a full batch are told."""
        told: list[int] = []
        queue = SpanQueue(limit=9, batch=3)
        queue.on_batch = lambda: told.append(len(queue))
        for number in range(4):
            queue.put(span(number))
        self.assertEqual(told, [1, 3, 4])

    def test_calls_with_tests(self) -> None:
        """Spans of tests are among those of a batch."""
        told: list[int] = []
        queue = SpanQueue(limit=9, batch=4)
        queue.on_batch = lambda: told.append(len(queue))
        for number in range(3):
            queue.put_test(of_test(number))
            queue.put(span(number))
        self.assertEqual(told, [1, 4, 5, 6])
        queue.take()
        queue.put(span(7))
        self.assertEqual(told, [1, 4, 5, 6])

    def test_parts(self) -> None:
        """A batch is written in parts, with each span once."""
        queue = SpanQueue(limit=99, batch=9)
        for number in range(7):
            queue.put(span(number))
        for number in (7, 8):
            queue.put_test(of_test(number))
        parts = [ids(part) for part in queue.take().parts(4)]
        self.assertEqual(parts, [[0, 1, 2, 3], [4, 5, 6], [7, 8]])

    def test_clear(self) -> None:
        """What is given up counts as dropped."""
        queue = SpanQueue(limit=9, batch=3)
        queue.put(span(0))
        queue.put_test(of_test(1))
        queue.clear()
        self.assertEqual((len(queue), queue.dropped), (0, 2))
        self.assertEqual(ids(queue.take()), [])
