"""Tests of ``trafficmock.command.output``."""
