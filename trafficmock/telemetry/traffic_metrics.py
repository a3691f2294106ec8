"""Counts decisions for the metrics, and knows the gauges of the service."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import Struct

from trafficmock.telemetry.otlp.span_message import server_of

if TYPE_CHECKING:
    from collections.abc import Callable

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


@define(eq=False)
class TrafficMetrics:
    """The counts since the start.

    :ivar gauges: functions that return values of :data:`INSTRUMENTS`.
    :ivar durations: the time from the request to the decision, by decision.
    :ivar overflow: the decisions beyond :data:`MOST_SERIES`.
    """

    gauges: list[Callable[[], list[Gauge]]] = field(factory=list)
    durations: dict[str, Durations] = field(factory=dict)
    overflow: int = 0
    _by_origin: dict[tuple[str, str], int] = field(factory=dict)

    def decided(self, decision: str, url: str, nanoseconds: int) -> None:
        """Count a decision.

        :param nanoseconds: since the request came.
        """
        slash = url.find("/", 8)
        key = decision, url if slash < 0 else url[:slash]
        by_origin = self._by_origin
        count = by_origin.get(key, 0)
        if count or len(by_origin) < MOST_SERIES:
            by_origin[key] = count + 1
        else:
            self.overflow += 1
        durations = self.durations.get(decision)
        if durations is None:
            durations = self.durations[decision] = Durations([0] * (len(BOUNDS) + 1))
        durations.counts[bisect_left(_BOUNDS_NS, nanoseconds)] += 1
        durations.count += 1
        durations.total += max(nanoseconds, 0)

    def requests(self) -> dict[tuple[str, str], int]:
        """Return how many requests there were, by decision and host."""
        by_host: dict[tuple[str, str], int] = {}
        for (decision, origin), count in self._by_origin.items():
            key = decision, server_of(origin)[0]
            by_host[key] = by_host.get(key, 0) + count
        return by_host
