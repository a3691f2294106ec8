"""Tests of ``trafficmock.testing.session``."""
