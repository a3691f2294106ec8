"""Tests of ``trafficmock.proxy.transfer``."""
