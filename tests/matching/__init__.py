"""Tests of :mod:`trafficmock.matching`."""
