"""Tests of :mod:`trafficmock.wire.payloads`."""
