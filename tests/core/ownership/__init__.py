"""Tests of :mod:`trafficmock.core.ownership` through the coordinator."""
