"""Tests of the processes of ``trafficmock run``."""
