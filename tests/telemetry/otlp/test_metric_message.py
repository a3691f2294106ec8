"""Metrics as OTLP."""

from twisted.trial.unittest import SynchronousTestCase

from tests.telemetry.messages import attributes, metrics_of
from trafficmock.telemetry.otlp.metric_message import resource_metrics
from trafficmock.telemetry.traffic_metrics import INSTRUMENTS, TrafficMetrics


class MetricMessageTests(SynchronousTestCase):
    """All metrics, cumulative since the start."""

    def setUp(self) -> None:
        self.decisions: list[tuple[str, str | None, int]] = []
        self.metrics = TrafficMetrics(lambda: self.decisions)

    def read(self) -> dict[str, object]:
        return metrics_of(resource_metrics(self.metrics, (5, 7), b"", b""))

    def test_requests(self) -> None:
        """A counter by decision and host, and a histogram by decision."""
        for _ in range(2):
            self.metrics.decided("fulfill", 2_000_000)
        self.decisions += [("fulfill", "a.test", 2), ("fulfill", None, 3)]
        found = self.read()
        requests: object = found["trafficmock.requests"]
        point, overflow = requests.sum.data_points  # type: ignore[attr-defined]
        self.assertEqual(
            (point.as_int, point.start_time_unix_nano, point.time_unix_nano), (2, 5, 7)
        )
        self.assertEqual(
            attributes(point.attributes),
            {"trafficmock.decision": "fulfill", "server.address": "a.test"},
        )
        self.assertEqual(attributes(overflow.attributes), {"otel.metric.overflow": True})
        self.assertTrue(requests.sum.is_monotonic)  # type: ignore[attr-defined]
        durations: object = found["trafficmock.decision.duration"]
        (times,) = durations.histogram.data_points  # type: ignore[attr-defined]
        self.assertEqual((times.count, sum(times.bucket_counts)), (2, 2))
        self.assertEqual(len(times.bucket_counts), len(times.explicit_bounds) + 1)
        self.assertAlmostEqual(times.sum, 0.004)

    def test_gauges(self) -> None:
        """What is read at the export: each instrument that exists, with its unit."""
        self.metrics.gauges.append(lambda: [(name, "x", 4) for name in INSTRUMENTS])
        self.metrics.gauges.append(lambda: [("trafficmock.connections", "worker", 2)])
        found = self.read()
        self.assertEqual(set(found), set(INSTRUMENTS))
        connections: object = found["trafficmock.connections"]
        points = connections.sum.data_points  # type: ignore[attr-defined]
        self.assertEqual([point.as_int for point in points], [4, 2])
        self.assertFalse(connections.sum.is_monotonic)  # type: ignore[attr-defined]

    def test_nothing(self) -> None:
        """Before the first request there are no metrics of requests."""
        self.assertEqual(self.read(), {})
