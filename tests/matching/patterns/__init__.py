"""Tests of :mod:`trafficmock.matching.patterns`."""
