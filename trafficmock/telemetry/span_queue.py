"""The spans that wait for their export: bounded, with a count of those that found no room."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import define, field

from trafficmock.telemetry.finished_span import TestSpan, Values


@define(eq=False)
class SpanBatch:
    """Spans that are exported together.

    :param traffic: those of requests and WebSockets.
    :param tests: the spans of tests.
    """

    traffic: list[Values] = field(factory=list, repr=False)
    tests: list[TestSpan] = field(factory=list)

    def __len__(self) -> int:
        return len(self.traffic) + len(self.tests)

    def take(self, most: int) -> SpanBatch:
        """Remove the first spans, those of tests after others."""
        traffic, tests = self.traffic, self.tests
        room = max(0, most - len(traffic))
        self.traffic, self.tests = traffic[most:], tests[room:]
        del traffic[most:], tests[room:]
        return SpanBatch(traffic, tests)

    def parts(self, most: int) -> Iterator[SpanBatch]:
        """Remove all spans, some at a time."""
        traffic, tests = self.traffic, self.tests
        self.traffic, self.tests = [], []
        for at in range(0, len(traffic), most):
            yield SpanBatch(traffic[at : at + most])
        for at in range(0, len(tests), most):
            yield SpanBatch(tests=tests[at : at + most])


@define(eq=False)
class SpanQueue:
    """Takes spans that are over.

    :param limit: the most spans; a further one is dropped.
    :param batch: how many spans make a batch, see ``on_batch``.
    :param on_batch: called after each span beyond a batch, or with the first one in the queue.
    :ivar dropped: how many spans found no room, or were given up.
    :ivar traffic: the requests and WebSockets that wait. While there are some, and fewer than
        ``calm``, more may be added without :meth:`put`.
    """

    limit: int
    batch: int
    on_batch: Callable[[], None] = lambda: None
    dropped: int = 0
    _waiting: SpanBatch = field(factory=SpanBatch)
    traffic: list[Values] = field(init=False, repr=False)
    calm: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._count()

    def _count(self) -> None:
        """Set how many spans may wait while there is nothing to do but to add some."""
        self.traffic = self._waiting.traffic
        self.calm = min(self.batch - 1, self.limit) - len(self._waiting.tests)

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, span: Values) -> None:
        """Add a request or a WebSocket."""
        if 0 < len(self.traffic) < self.calm:
            self.traffic.append(span)
        elif self._has_room():
            self.traffic.append(span)
            self._added()

    def put_test(self, span: TestSpan) -> None:
        """Add a test."""
        if self._has_room():
            self._waiting.tests.append(span)
            self._count()
            self._added()

    def _has_room(self) -> bool:
        if len(self) < self.limit:
            return True
        self.dropped += 1
        return False

    def _added(self) -> None:
        if not 1 < len(self) < self.batch:
            self.on_batch()

    def take(self) -> SpanBatch:
        """Remove the spans of the next batch."""
        taken = self._waiting.take(self.batch)
        self._count()
        return taken

    def clear(self) -> None:
        """Drop all spans."""
        self.dropped += len(self._waiting.take(len(self)))
        self._count()
