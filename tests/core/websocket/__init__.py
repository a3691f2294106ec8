"""Tests of :mod:`trafficmock.core.websocket` through the coordinator."""
