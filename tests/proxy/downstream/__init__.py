"""Tests of ``trafficmock.proxy.downstream``."""
