"""Tests for :mod:`benchmarks.figures` and :mod:`benchmarks.report`."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from benchmarks.figures import Figures, Sample, cpu_ratio, percentile, summarise
from benchmarks.generator.loads import Load
from benchmarks.report import Comparison, comparison_table, table
from tests.support.processes.process_usage import Memory


def figures(*cpu: float, resident_mb: float = 100.0) -> Figures:
    samples = [Sample(one, [1_000_000, 9_000_000], 1.0, 2.0) for one in cpu]
    return summarise(samples, Memory(resident=int(resident_mb * 1e6), peak=200_000_000), 5.0)


class PercentileTests(SynchronousTestCase):
    """Percentiles are values that were seen."""

    @given(
        st.lists(st.integers(), min_size=1, max_size=50),
        st.floats(min_value=0.01, max_value=1),
    )
    def test_share(self, values: list[int], share: float) -> None:
        """At least the share of all values do not exceed the percentile, and it is one of them."""
        found = percentile(values, share)
        self.assertIn(found, values)
        self.assertGreaterEqual(sum(value <= found for value in values), share * len(values) - 1e-9)

    def test_nothing(self) -> None:
        """No values have no percentile."""
        self.assertRaises(ValueError, percentile, [], 0.5)


class RatioTests(SynchronousTestCase):
    """Neighbouring rounds are compared, not minutes that lie apart."""

    def test_disturbed_round(self) -> None:
        """A disturbance that doubles both rounds of one pair leaves the ratio alone."""
        self.assertEqual(cpu_ratio(figures(50, 100, 50), figures(100, 200, 100)), 0.5)

    def test_median(self) -> None:
        """The figure of a load is the median of its rounds."""
        self.assertEqual(figures(10, 30, 20).cpu_us, 20)


class ReportTests(SynchronousTestCase):
    """The table tells what was reached."""

    def test_reached(self) -> None:
        """A load is reached only when both CPU and memory are within their targets."""
        load = Load("x", "x", cpu_target=0.5, memory_target=0.5)
        within = Comparison(load, figures(50, resident_mb=40), figures(100))
        too_large = Comparison(load, figures(50, resident_mb=60), figures(100))
        self.assertEqual((within.reached, too_large.reached), (True, False))
        text = comparison_table([within, too_large], ("ours", "npm"))
        self.assertIn("yes", text.splitlines()[2])
        self.assertIn("NO", text.splitlines()[3])

    def test_aligned(self) -> None:
        """All lines of a table have the same width."""
        text = table(("a", "long head"), [("a long cell", "b"), ("c", "d")])
        self.assertEqual(len({len(line) for line in text.splitlines()}), 1)
