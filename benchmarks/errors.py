"""The error of the benchmarks."""


class BenchmarkError(Exception):
    """A target did not start, gave a wrong answer, or exceeded a time limit."""
