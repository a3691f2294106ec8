"""What is known of a span."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.finished_span import SpanEvent, TrafficSpan


class EventTests(SynchronousTestCase):
    """The first events are kept, the others counted."""

    def test_bound(self) -> None:
        """With no events at all, all are counted."""
        for most, kept, dropped in ((2, 2, 1), (0, 0, 3)):
            span = TrafficSpan("q", ("a", "GET", "http://h/", 1, None, None, 0))
            for number in range(3):
                span.add_event(SpanEvent(number, "piece", "", 1), most)
            self.assertEqual((len(span.events or ()), span.dropped_events), (kept, dropped))
