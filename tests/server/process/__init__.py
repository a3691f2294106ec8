"""Tests of :mod:`trafficmock.server.process`."""
