"""Tests of ``trafficmock.proxy.http1``."""
