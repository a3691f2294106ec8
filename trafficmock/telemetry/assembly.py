"""Puts an exporter together from its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from trafficmock.errors import LocalError
from trafficmock.telemetry.export_settings import Destination, ExportSettings, read_settings
from trafficmock.telemetry.exporter import Exporter
from trafficmock.telemetry.otlp.protobuf import attribute, text
from trafficmock.telemetry.otlp.span_message import SpanWriter
from trafficmock.telemetry.otlp_client import Collector, make_agent
from trafficmock.telemetry.request_spans import RequestSpans
from trafficmock.telemetry.span_queue import SpanQueue
from trafficmock.telemetry.spans_of_tests import SpansOfTests
from trafficmock.telemetry.traffic_metrics import HostDecisions, TrafficMetrics
from trafficmock.telemetry.websocket_spans import SocketSpans


def make_exporter(
    option: str | None,
    environ: Mapping[str, str],
    *,
    version: str,
    new_id: Callable[[int], bytes],
    now: Callable[[], int],
    redact_urls: Callable[[Sequence[str]], Sequence[str]],
    redact_text: Callable[[str], str],
    decisions: Callable[[], Iterable[HostDecisions]],
    reactor: Any,
) -> Exporter | None:
    """Return the exporter; ``None`` where the variables turn the export off.

    :param option: the value of ``--otlp-endpoint``.
    :param environ: the variables of the process.
    :param new_id: returns that many random bytes.
    :param now: returns epoch nanoseconds.
    :param decisions: as in :class:`~trafficmock.telemetry.traffic_metrics.TrafficMetrics`.
    """
    settings = read_settings(option, environ)
    for warning in settings.warnings:
        Exporter.log.warn("OTLP: {warning}", warning=warning)
    try:
        traces = _collector(settings.traces, version, reactor)
        metrics = _collector(settings.metrics, version, reactor)
    except LocalError as error:
        Exporter.log.warn("OTLP: nothing is exported: {error}", error=error)
        return None
    if traces is None and metrics is None:
        return None
    queue = SpanQueue(settings.most_waiting, settings.batch)
    counts = TrafficMetrics(decisions)
    parts = _parts(settings, None if traces is None else queue, counts, new_id)

    counts.gauges.append(
        lambda: [
            ("trafficmock.export.queue.size", "", len(queue)),
            ("trafficmock.export.dropped", "", queue.dropped),
        ]
    )
    return Exporter(
        traces=traces,
        metrics=metrics,
        queue=queue,
        counts=counts,
        parts=parts,
        writer=SpanWriter(new_id, parts[2].traces, redact_urls, redact_text, settings.longest),
        resource=_resource(settings, version, new_id),
        scope=text(1, "trafficmock") + text(2, version),
        reactor=reactor,
        now=now,
        delay=settings.delay,
        interval=settings.interval,
    )


def _collector(destination: Destination | None, version: str, reactor: Any) -> Collector | None:
    if destination is None:
        return None
    agent = make_agent(destination, reactor)
    return Collector(destination, agent, f"trafficmock/{version}", reactor)


def _parts(
    settings: ExportSettings,
    queue: SpanQueue | None,
    counts: TrafficMetrics,
    new_id: Callable[[int], bytes],
) -> tuple[RequestSpans, SocketSpans, SpansOfTests]:
    most = settings.most_events
    return (
        RequestSpans(queue, counts, most),
        SocketSpans(queue, counts, most),
        SpansOfTests(queue, new_id),
    )


def _resource(settings: ExportSettings, version: str, new_id: Callable[[int], bytes]) -> bytes:
    attributes = {
        "service.version": version,
        "service.instance.id": new_id(16).hex(),
        "telemetry.sdk.name": "trafficmock",
        "telemetry.sdk.language": "python",
        "telemetry.sdk.version": version,
    } | dict(settings.resource)
    return b"".join(attribute(1, key, value) for key, value in attributes.items())
