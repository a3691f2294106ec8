"""Tests of ``trafficmock.report``."""
