"""What can go wrong while measuring."""


class BenchmarkError(Exception):
    """A target did not start, answered wrongly, or took longer than allowed."""
