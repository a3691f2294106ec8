"""Counts decisions for the metrics, and knows the gauges of the service."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from attrs import define, field
from msgspec import Struct

from trafficmock.telemetry.otlp.span_message import server_of

if TYPE_CHECKING:
    from collections.abc import Callable

_AT_ONCE = 500
"""The decisions that are counted together, which costs a third of counting each."""

MOST_SERIES = 1000
"""The most pairs of decision and origin; the others are counted together, as OpenTelemetry does."""

BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
"""The bounds of the histogram of decision times, in seconds."""

_BOUNDS_NS = tuple(round(bound * 1e9) for bound in BOUNDS)

Gauge = tuple[str, str, int]
"""The name of an instrument, the value of its attribute (may be empty), and the value."""


class Instrument(Struct, frozen=True):
    """An instrument that is read when metrics are exported.

    :param unit: of UCUM, such as ``By`` or ``{span}``.
    :param grows: whether its value only grows.
    :param attribute: the key of its attribute.
    """

    description: str
    unit: str
    grows: bool = False
    attribute: str = ""


INSTRUMENTS = {
    "trafficmock.connections": Instrument(
        "Open connections.", "{connection}", attribute="trafficmock.connection.kind"
    ),
    "trafficmock.send_queue.size": Instrument("Bytes that wait for clients of /ws.", "By"),
    "trafficmock.history.evictions": Instrument(
        "Entries that the history dropped for a bound.",
        "{entry}",
        grows=True,
        attribute="trafficmock.entry.kind",
    ),
    "trafficmock.export.queue.size": Instrument("Spans that wait for their export.", "{span}"),
    "trafficmock.export.dropped": Instrument(
        "Spans that found no room, or that the collector did not take.", "{span}", grows=True
    ),
}
"""The instruments besides the requests and their decision times, by name."""


class Durations(Struct):
    """A histogram of decision times.

    :param counts: the numbers of values up to each bound, and beyond the last one.
    :param total: the sum in nanoseconds.
    """

    counts: list[int]
    count: int = 0
    total: int = 0

    def add(self, times: list[int]) -> None:
        """Add values in nanoseconds; one below zero counts as zero."""
        ordered = sorted(times)
        ends = [bisect_right(ordered, bound) for bound in _BOUNDS_NS]
        for bucket, (start, end) in enumerate(pairwise((0, *ends, len(ordered)))):
            self.counts[bucket] += end - start
        self.count += len(ordered)
        self.total += sum(ordered[bisect_right(ordered, 0) :])


@define(eq=False)
class TrafficMetrics:
    """The counts since the start.

    :ivar gauges: functions that return values of :data:`INSTRUMENTS`.
    :ivar overflow: the decisions beyond :data:`MOST_SERIES`.
    """

    gauges: list[Callable[[], list[Gauge]]] = field(factory=list)
    overflow: int = 0
    _durations: dict[str, Durations] = field(factory=dict)
    _by_origin: dict[tuple[str, str], int] = field(factory=dict)
    _new: dict[str, list[Any]] = field(factory=dict, repr=False)

    def decided(self, decision: str, origin: str, took: int) -> None:
        """Count a request or a WebSocket that has its decision now.

        :param took: the nanoseconds until the decision.
        """
        new = self._new.get(decision)
        if new is None:
            new = self._new[decision] = []
        new += origin, took
        if len(new) >= _AT_ONCE * 2:
            self._count(decision)

    def _count(self, decision: str) -> None:
        """Count what was decided so since the last time."""
        new, by_origin = self._new.pop(decision), self._by_origin
        for origin, more in Counter(new[::2]).items():
            key = decision, origin
            count = by_origin.get(key, 0)
            if count or len(by_origin) < MOST_SERIES:
                by_origin[key] = count + more
            else:
                self.overflow += more
        durations = self._durations.get(decision)
        if durations is None:
            durations = self._durations[decision] = Durations([0] * (len(BOUNDS) + 1))
        durations.add(new[1::2])

    def _count_all(self) -> None:
        for decision in list(self._new):
            self._count(decision)

    def durations(self) -> dict[str, Durations]:
        """Return the times from the request to the decision, by decision."""
        self._count_all()
        return self._durations

    def requests(self) -> dict[tuple[str, str], int]:
        """Return how many requests there were, by decision and host."""
        self._count_all()
        by_host: dict[tuple[str, str], int] = {}
        for (decision, origin), count in self._by_origin.items():
            key = decision, server_of(origin)[0]
            by_host[key] = by_host.get(key, 0) + count
        return by_host
