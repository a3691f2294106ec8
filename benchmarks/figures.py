"""Computes figures from samples: medians over rounds, percentiles over requests, ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from attrs import frozen

from tests.support.processes.process_usage import Memory


@frozen
class Sample:
    """
    One measured round.

    :param cpu_us: CPU of the proxy process per request, in microseconds.
    :param latencies: time to decision of each request, in nanoseconds.
    :param seconds: wall time.
    :param messages: WebSocket messages per request, both ways.
    """

    cpu_us: float
    latencies: Sequence[int]
    seconds: float
    messages: float


@frozen
class Figures:
    """
    The figures of one load on one target, over several rounds.

    :param first_us: CPU per request of the first requests of a new process, in
        microseconds.
    :param cpu_us: median over the rounds, microseconds of CPU per request.
    :param cpu_rounds: the figure of each round, in their order.
    :param p50_ms: median of the time to decision; median over the rounds.
    :param p99_ms: 99th percentile of it; median over the rounds.
    :param messages: WebSocket messages per request, in both directions.
    :param resident_mb: resident memory at the end, in MB (10^6 bytes).
    :param peak_mb: the peak of the resident memory, in MB.
    """

    first_us: float
    cpu_us: float
    cpu_rounds: tuple[float, ...]
    p50_ms: float
    p99_ms: float
    messages: float
    resident_mb: float
    peak_mb: float

    @property
    def cpu_quartiles(self) -> tuple[float, float]:
        """The first and third quartile of the rounds' CPU figures."""
        return percentile(self.cpu_rounds, 0.25), percentile(self.cpu_rounds, 0.75)


def percentile(values: Sequence[float], share: float) -> float:
    """
    Return the smallest value that at least ``share`` of all values do not exceed (nearest rank).

    :param values: at least one.
    :param share: above 0, at most 1.
    :raises ValueError: without values or with a share outside that range.
    """
    if not values or not 0 < share <= 1:
        raise ValueError("needs values, and a share above 0 and at most 1")
    return sorted(values)[math.ceil(share * len(values)) - 1]


def milliseconds(latencies: Sequence[int], share: float) -> float:
    """Return a percentile of nanoseconds, in milliseconds."""
    return percentile(latencies, share) / 1e6


def summarise(samples: Sequence[Sample], memory: Memory, first_us: float) -> Figures:
    """
    Return the figures of ``samples``: medians over the rounds.

    :param memory: read after the last sample.
    :param first_us: CPU per request before the first sample, in microseconds.
    """
    cpu = tuple(sample.cpu_us for sample in samples)
    return Figures(
        first_us=first_us,
        cpu_us=statistics.median(cpu),
        cpu_rounds=cpu,
        p50_ms=statistics.median(milliseconds(sample.latencies, 0.5) for sample in samples),
        p99_ms=statistics.median(milliseconds(sample.latencies, 0.99) for sample in samples),
        messages=statistics.median(sample.messages for sample in samples),
        resident_mb=memory.resident / 1e6,
        peak_mb=memory.peak / 1e6,
    )


def cpu_ratio(ours: Figures, theirs: Figures) -> float:
    """
    Return the ratio of CPU per request, as the median of the ratios of neighbouring rounds.

    Other work of the machine affects both rounds of a pair, so pairs compare better
    than two medians.
    """
    pairs = zip(ours.cpu_rounds, theirs.cpu_rounds, strict=True)
    return statistics.median(ratio(one, two) for one, two in pairs)


def ratio(ours: float, theirs: float) -> float:
    """Return ``ours / theirs``; infinite if ``theirs`` is 0."""
    return ours / theirs if theirs else math.inf
