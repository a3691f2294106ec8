"""Reads exported messages with the classes that OpenTelemetry generates from its definitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


def span_of(message: bytes) -> Any:
    """Read one span."""
    span = Span()
    span.ParseFromString(message)
    return span


def spans_of(body: bytes) -> list[Any]:
    """Read the spans of a request to a collector."""
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)
    return [
        span
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def metrics_of(body: bytes) -> dict[str, Any]:
    """Read the metrics of a request to a collector, by name."""
    request = ExportMetricsServiceRequest()
    request.ParseFromString(body)
    return {
        metric.name: metric
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def resource_of(body: bytes) -> dict[str, Any]:
    """Read the attributes of the process that exported."""
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)
    return attributes(request.resource_spans[0].resource.attributes)


def attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    """Read attributes; each key may be there once."""
    found: dict[str, Any] = {}
    for pair in pairs:
        assert pair.key not in found, f"{pair.key} is there twice"
        found[pair.key] = getattr(pair.value, pair.value.WhichOneof("value"))
    return found
