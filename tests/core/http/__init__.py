"""Tests of :mod:`trafficmock.core.http` through the coordinator."""
