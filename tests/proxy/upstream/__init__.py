"""Tests of ``trafficmock.proxy.upstream``."""
