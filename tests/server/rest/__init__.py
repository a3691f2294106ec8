"""Tests of ``trafficmock.server.rest``."""
