"""Tests of ``trafficmock.server.websocket``."""
