"""The counts of metrics."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.traffic_metrics import BOUNDS, TrafficMetrics


class TrafficMetricsTests(SynchronousTestCase):
    """Decisions by action and host, and their times."""

    def test_counts(self) -> None:
        """Requests are counted by decision and host, whatever the port; others together."""
        counts = [
            ("fulfill", "a.test", 3),
            ("fulfill", "A.test:8080", 1),
            ("abort", "[::1]:9", 1),
            ("abort", "h:99999", 1),
            ("fulfill", None, 4),
            ("abort", None, 5),
        ]
        expected = {("fulfill", "a.test"): 4, ("abort", "::1"): 1, ("abort", ""): 1}
        self.assertEqual(TrafficMetrics(lambda: counts).requests(), (expected, 9))

    def test_durations(self) -> None:
        """A time is in the bucket whose bound it does not exceed; below zero counts as zero."""
        metrics = TrafficMetrics(list)
        for nanoseconds in (-5, 100_000, 100_001, 9_000_000_000):
            metrics.decided("fulfill", nanoseconds)
        durations = metrics.durations()["fulfill"]
        self.assertEqual(
            (durations.counts[0], durations.counts[1], durations.counts[-1]), (2, 1, 1)
        )
        self.assertEqual(len(durations.counts), len(BOUNDS) + 1)
        self.assertEqual(durations.total, 9_000_200_001)

    @given(st.lists(st.integers(-1, 10**10) | st.sampled_from([100_000, 250_000, 5 * 10**9])))
    def test_many(self, times: list[int]) -> None:
        """Times that are counted together are as if each were counted alone."""
        together, alone = TrafficMetrics(list), TrafficMetrics(list)
        for nanoseconds in times:
            for metrics in (together, alone):
                metrics.decided("fulfill", nanoseconds)
            alone.durations()
        self.assertEqual(together.durations(), alone.durations())

    def test_more_than_wait(self) -> None:
        """What waits to be counted has a bound, and is counted once."""
        metrics = TrafficMetrics(list)
        times = metrics.uncounted("fulfill")
        for _ in range(1234):
            metrics.decided("fulfill", 1)
        self.assertLess(len(times), 500)
        self.assertEqual(metrics.durations()["fulfill"].count, 1234)
        self.assertEqual(times, [])
