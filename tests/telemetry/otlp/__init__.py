"""Tests of the messages of OTLP, against OpenTelemetry's own classes."""
