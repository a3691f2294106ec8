"""Tests of ``trafficmock.testing.launch``."""
