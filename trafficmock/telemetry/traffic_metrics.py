"""Knows the metrics: the decisions and their times, and the gauges of the service."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import pairwise

from attrs import define, field
from msgspec import Struct

from trafficmock.telemetry.otlp.span_message import server_of

_MOST_UNCOUNTED = 500
"""The times that are counted together, which costs a third of counting each."""

BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
"""The bounds of the histogram of decision times, in seconds."""

_BOUNDS_NS = tuple(round(bound * 1e9) for bound in BOUNDS)

HostDecisions = tuple[str, str | None, int]
"""An action, a host, perhaps with its port, and how many decisions they had; ``None`` for the hosts
beyond a bound."""

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

    :param decisions: returns the decisions, which the history counts.
    :ivar gauges: functions that return values of :data:`INSTRUMENTS`.
    """

    decisions: Callable[[], Iterable[HostDecisions]]
    gauges: list[Callable[[], list[Gauge]]] = field(factory=list)
    _durations: dict[str, Durations] = field(factory=dict)
    _uncounted: dict[str, list[int]] = field(factory=dict, repr=False)

    def uncounted(self, decision: str) -> list[int]:
        """Return the list for the times until decisions of a kind, in nanoseconds.

        Who adds many calls :meth:`decided` for some of them, which counts all.
        """
        return self._uncounted.setdefault(decision, [])

    def decided(self, decision: str, took: int) -> None:
        """Count the time of a request or a WebSocket that has its decision now.

        :param took: the nanoseconds until the decision.
        """
        times = self._uncounted.get(decision) or self.uncounted(decision)
        times.append(took)
        if len(times) >= _MOST_UNCOUNTED:
            self._count(decision)

    def _count(self, decision: str) -> None:
        """Count the times since the last call."""
        times = self._uncounted[decision]
        durations = self._durations.get(decision)
        if durations is None:
            durations = self._durations[decision] = Durations([0] * (len(BOUNDS) + 1))
        durations.add(times)
        times.clear()

    def durations(self) -> dict[str, Durations]:
        """Return the times from the request to the decision, by decision."""
        for decision, times in self._uncounted.items():
            if times:
                self._count(decision)
        return self._durations

    def requests(self) -> tuple[dict[tuple[str, str], int], int]:
        """Return how many were decided, by decision and host, and for all hosts beyond a bound."""
        found: dict[tuple[str, str], int] = {}
        overflow = 0
        for decision, authority, number in self.decisions():
            if authority is None:
                overflow += number
            else:
                key = decision, server_of(f"//{authority}")[0]
                found[key] = found.get(key, 0) + number
        return found, overflow
