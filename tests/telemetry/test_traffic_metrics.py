"""The counts of metrics."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry import traffic_metrics
from trafficmock.telemetry.finished_span import origin_of
from trafficmock.telemetry.traffic_metrics import BOUNDS, TrafficMetrics


class TrafficMetricsTests(SynchronousTestCase):
    """Decisions by action and host, and their times."""

    def test_counts(self) -> None:
        """Requests are counted by decision and host, without paths and credentials."""
        metrics = TrafficMetrics()
        for url in ("http://a.test/1", "http://a.test/2?x", "http://u:p@a.test/3", "http://b.test"):
            metrics.decided("fulfill", origin_of(url), 1000)
        metrics.decided("abort", "http://a.test", 1000)
        expected = {("fulfill", "a.test"): 3, ("fulfill", "b.test"): 1, ("abort", "a.test"): 1}
        self.assertEqual(metrics.requests(), expected)

    def test_durations(self) -> None:
        """A time is in the bucket whose bound it does not exceed; below zero counts as zero."""
        metrics = TrafficMetrics()
        for nanoseconds in (-5, 100_000, 100_001, 9_000_000_000):
            metrics.decided("fulfill", "http://a.test", nanoseconds)
        durations = metrics.durations()["fulfill"]
        self.assertEqual(
            (durations.counts[0], durations.counts[1], durations.counts[-1]), (2, 1, 1)
        )
        self.assertEqual(len(durations.counts), len(BOUNDS) + 1)
        self.assertEqual(durations.total, 9_000_200_001)

    @given(st.lists(st.integers(-1, 10**10) | st.sampled_from([100_000, 250_000, 5 * 10**9])))
    def test_many(self, times: list[int]) -> None:
        """Times that are counted together are as if each were counted alone."""
        together, alone = TrafficMetrics(), TrafficMetrics()
        for nanoseconds in times:
            for metrics in (together, alone):
                metrics.decided("fulfill", "http://a.test", nanoseconds)
            alone.durations()
        self.assertEqual(together.durations(), alone.durations())

    def test_more_than_wait(self) -> None:
        """What waits to be counted has a bound, and is counted once."""
        metrics = TrafficMetrics()
        for _ in range(1234):
            metrics.decided("fulfill", "http://a.test", 1)
        self.assertLess(sum(map(len, metrics._new.values())), 2 * 500)
        self.assertEqual(metrics.requests(), {("fulfill", "a.test"): 1234})
        self.assertEqual(metrics.durations()["fulfill"].count, 1234)

    def test_bounds(self) -> None:
        """Clients choose hosts, so their number has a bound."""
        self.patch(traffic_metrics, "MOST_SERIES", 2)
        metrics = TrafficMetrics()
        for host in "abcd":
            metrics.decided("fulfill", f"http://{host}.test", 1)
        metrics.decided("fulfill", "http://a.test", 1)
        self.assertEqual((len(metrics.requests()), metrics.overflow), (2, 2))
        self.assertEqual(metrics.requests()["fulfill", "a.test"], 2)
