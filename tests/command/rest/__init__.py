"""Tests of ``trafficmock.command.rest``."""
