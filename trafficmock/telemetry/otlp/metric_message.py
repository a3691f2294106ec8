"""Writes metrics as messages of OTLP (``opentelemetry.proto.metrics.v1``)."""

from __future__ import annotations

from collections.abc import Mapping

from trafficmock.telemetry.otlp.protobuf import (
    attribute,
    double,
    fixed64,
    number,
    of_length,
    packed_double,
    packed_fixed64,
    text,
)
from trafficmock.telemetry.traffic_metrics import BOUNDS, INSTRUMENTS, TrafficMetrics

_CUMULATIVE = number(2, 2)
_MONOTONIC = number(3, 1)


def resource_metrics(
    metrics: TrafficMetrics, times: tuple[int, int], resource: bytes, scope: bytes
) -> bytes:
    """Return an ``ExportMetricsServiceRequest`` with all metrics.

    :param times: the start of the process and now, in epoch nanoseconds.
    :param resource: the message ``Resource``.
    :param scope: the message ``InstrumentationScope``.
    """
    span = fixed64(2, times[0]) + fixed64(3, times[1])
    made = _requests(metrics, span) + _durations(metrics, span) + _observed(metrics, span)
    inner = of_length(1, scope) + b"".join(of_length(2, each) for each in made)
    return of_length(1, of_length(1, resource) + of_length(2, inner))


def _requests(metrics: TrafficMetrics, span: bytes) -> list[bytes]:
    counts, overflow = metrics.requests()
    points = [
        _point(count, span, {"trafficmock.decision": decision, "server.address": host})
        for (decision, host), count in counts.items()
    ]
    if overflow:
        mark = attribute(7, "otel.metric.overflow", value=True)
        points.append(span + fixed64(6, overflow) + mark)
    head = _head("trafficmock.requests", "Requests and WebSockets that were decided.", "{request}")
    return [head + _sum(points, _MONOTONIC)] if points else []


def _durations(metrics: TrafficMetrics, span: bytes) -> list[bytes]:
    points = [
        span
        + fixed64(4, durations.count)
        + double(5, durations.total / 1e9)
        + packed_fixed64(6, durations.counts)
        + packed_double(7, BOUNDS)
        + attribute(9, "trafficmock.decision", decision)
        for decision, durations in metrics.durations().items()
    ]
    head = _head("trafficmock.decision.duration", "Time from a request to its decision.", "s")
    inner = b"".join(of_length(1, point) for point in points) + _CUMULATIVE
    return [head + of_length(9, inner)] if points else []


def _observed(metrics: TrafficMetrics, span: bytes) -> list[bytes]:
    points: dict[str, list[bytes]] = {}
    for name, label, value in (gauge for read in metrics.gauges for gauge in read()):
        given = {INSTRUMENTS[name].attribute: label} if label else {}
        points.setdefault(name, []).append(_point(value, span, given))
    made = []
    for name, of_name in points.items():
        instrument = INSTRUMENTS[name]
        head = _head(name, instrument.description, instrument.unit)
        made.append(head + _sum(of_name, _MONOTONIC if instrument.grows else b""))
    return made


def _head(name: str, description: str, unit: str) -> bytes:
    return text(1, name) + text(2, description) + text(3, unit)


def _point(value: int, span: bytes, attributes: Mapping[str, str]) -> bytes:
    given = b"".join(attribute(7, key, text) for key, text in attributes.items() if text)
    return given + span + fixed64(6, value)


def _sum(points: list[bytes], grows: bytes) -> bytes:
    return of_length(7, b"".join(of_length(1, point) for point in points) + _CUMULATIVE + grows)
