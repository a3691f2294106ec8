"""What is known of a span."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.finished_span import Beginning, SpanEvent, TrafficSpan, origin_of


class EventTests(SynchronousTestCase):
    """The first events are kept, the others counted."""

    def test_bound(self) -> None:
        """With no events at all, all are counted."""
        for most, kept, dropped in ((2, 2, 1), (0, 0, 3)):
            span = TrafficSpan("q", Beginning("a", "GET", "http://h/", "http://h", 1))
            for number in range(3):
                span.add_event(SpanEvent(number, "piece", "", 1), most)
            self.assertEqual((len(span.events or ()), span.dropped_events), (kept, dropped))


class OriginTests(SynchronousTestCase):
    """The beginning of a URL."""

    def test_origins(self) -> None:
        """Scheme, host and port, also without a path."""
        for url in ("http://a.test:1/b/c", "http://a.test:1"):
            self.assertEqual(origin_of(url), "http://a.test:1")
