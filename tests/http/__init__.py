"""Tests of ``trafficmock.http``."""
