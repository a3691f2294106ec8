"""Tests of :mod:`trafficmock.core.mocks` through the coordinator."""
