"""Tests of the parts of the benchmarks that compute rather than measure."""
