"""Tests of ``trafficmock.proxy.websocket``."""
