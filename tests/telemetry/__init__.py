"""Tests of the export to a collector.

``messages`` reads what is exported with OpenTelemetry's own classes; ``fakes`` has a collector.
"""
