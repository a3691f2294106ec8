"""Tests of :mod:`trafficmock.core.answers` through the coordinator."""
