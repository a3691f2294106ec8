"""Tests of ``trafficmock.server.reports``."""
