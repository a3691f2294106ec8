"""What agents ask about: a superset of what routes and strict tests may want."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.matching.compiled_matcher import MAX_CACHED
from trafficmock.matching.necessary_texts import necessary_texts
from trafficmock.wire.agent_filter import FilterEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from trafficmock.matching.compiled_matcher import UrlCondition

ALL = FilterEntry(all=True)
"""Of a condition without a text that each matching URL has."""

MOST_KEPT = 10_000
"""Entries beyond which those go that nothing needs any more."""

KEPT_WHEN_FULL = 9_000
"""How many are left then, if so many can go."""

KEPT_SECONDS = 300.0
"""How long an entry stays that nothing needs: the next test may."""

ALL_KEPT_SECONDS = 5.0
"""How long :data:`ALL` stays when nothing needs it; meanwhile nothing is decided by agents."""

SWEEP_SECONDS = 30.0
"""How often entries are looked through."""


@lru_cache(maxsize=MAX_CACHED)
def entries_of(condition: UrlCondition) -> tuple[FilterEntry, ...]:
    """Write what agents must ask about so that a route with this condition misses nothing."""
    texts = necessary_texts(condition)
    return (ALL,) if texts is None else tuple(FilterEntry(texts=each) for each in texts)


@define
class Held:
    """An entry that agents have, or are about to have.

    :param n: of the message that carried it.
    :param needed_at: monotonic seconds of the last look at which something needed it.
    """

    n: int
    needed_at: float


@define
class FilterEntries:
    """The entries, in the order in which they came."""

    held: dict[FilterEntry, Held] = field(factory=dict)
    _sweep_at: float = 0.0
    _most: int = MOST_KEPT

    def missing(self, wanted: Iterable[FilterEntry]) -> list[FilterEntry]:
        """List those that are not there, each once."""
        return [each for each in dict.fromkeys(wanted) if each not in self.held]

    def add(self, entries: Iterable[FilterEntry], n: int, now: float) -> None:
        for each in entries:
            self.held[each] = Held(n, now)

    def newest(self, wanted: Iterable[FilterEntry]) -> int:
        """Give the number by whose acknowledgement an agent has all of these; -1 for none."""
        return max((self.held[each].n for each in wanted), default=-1)

    def is_sweep_due(self, now: float) -> bool:
        return now >= self._sweep_at or len(self.held) > self._most

    def sweep(self, needed: Collection[FilterEntry], now: float) -> list[FilterEntry]:
        """Remove entries that were not needed for long, and the oldest of those above the limit.

        :param needed: by what is registered now.
        """
        for each in needed:
            # What came when no agent was there is not held: an agent that joins gets it.
            if held := self.held.get(each):
                held.needed_at = now
        idle = [each for each in self.held if each not in needed]
        idle.sort(key=lambda each: self.held[each].needed_at)
        excess = len(self.held) - KEPT_WHEN_FULL if len(self.held) > MOST_KEPT else 0
        gone = [
            each
            for place, each in enumerate(idle)
            if place < excess or now - self.held[each].needed_at >= _kept_seconds(each)
        ]
        for each in gone:
            del self.held[each]
        # What is needed alone may be more: looking through it again with every route would cost.
        self._most = max(MOST_KEPT, 2 * len(needed))
        self._sweep_at = now + (ALL_KEPT_SECONDS if ALL in self.held else SWEEP_SECONDS)
        return gone

    def next_deadline(self) -> float | None:
        """Tell when entries are to be looked through."""
        return self._sweep_at if self.held else None


def _kept_seconds(entry: FilterEntry) -> float:
    return ALL_KEPT_SECONDS if entry == ALL else KEPT_SECONDS
