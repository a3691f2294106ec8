"""The entries of the agents' filters: conditions that include all routes and strict tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from attrs import define, field

from trafficmock.matching.compiled_matcher import MAX_CACHED, UrlCondition
from trafficmock.matching.necessary_texts import necessary_texts
from trafficmock.matching.patterns.unix_sockets import is_unix_socket
from trafficmock.wire.agent_filter import FilterEntry

ALL = FilterEntry(all=True)
"""The entry of a route without a text that each matching URL has: agents ask about everything."""

MOST_KEPT = 10_000
"""The number of entries above which unneeded ones are removed at once."""

KEPT_WHEN_FULL = 9_000
"""The number of entries that stay after such a removal, if enough are unneeded."""

KEPT_SECONDS = 300.0
"""Seconds for which an unneeded entry stays, since the next test may need it."""

ALL_KEPT_SECONDS = 5.0
"""Seconds for which an unneeded :data:`ALL` stays; meanwhile agents ask about everything."""

SWEEP_SECONDS = 30.0
"""Seconds between two searches for unneeded entries."""


@lru_cache(maxsize=MAX_CACHED)
def entries_of(condition: UrlCondition) -> tuple[FilterEntry, ...]:
    """Return the filter entries of a condition: every URL that satisfies it matches one of them."""
    texts = necessary_texts(condition)
    if texts is None:
        return (ALL,)
    # The alternatives in braces may name UNIX sockets among other servers: those match nothing.
    names_sockets = condition.names_unix_sockets
    return tuple(
        FilterEntry(texts=each) for each in texts if names_sockets or not is_unix_socket(each[0])
    )


@define
class SentEntry:
    """The state of an entry that was sent to agents.

    :param n: the number of the message with the entry.
    :param needed_at: monotonic seconds of the last sweep at which the entry was needed.
    """

    n: int
    needed_at: float


@define
class FilterEntries:
    """The entries that agents have, in the order in which they were added.

    :ivar sweep_at: when the next search for unneeded ones is due, in monotonic seconds.
    """

    sent: dict[FilterEntry, SentEntry] = field(factory=dict)
    sweep_at: float = 0.0
    _most: int = MOST_KEPT

    def missing(self, wanted: Iterable[FilterEntry]) -> list[FilterEntry]:
        """Return the entries among ``wanted`` that agents do not have, each once."""
        return [each for each in dict.fromkeys(wanted) if each not in self.sent]

    def add(self, entries: Iterable[FilterEntry], n: int, now: float) -> None:
        for each in entries:
            self.sent[each] = SentEntry(n, now)

    def newest(self, wanted: Iterable[FilterEntry]) -> int:
        """Return the number of the message after which agents have all of ``wanted``.

        :returns: -1 if ``wanted`` is empty.
        """
        return max((self.sent[each].n for each in wanted), default=-1)

    def is_sweep_due(self, now: float) -> bool:
        return now >= self.sweep_at or len(self.sent) > self._most

    def sweep(self, needed: Collection[FilterEntry], now: float) -> list[FilterEntry]:
        """Remove the entries that were unneeded for long, and above the limit the oldest unneeded.

        :param needed: the entries of the registered routes and strict tests.
        :param now: monotonic seconds.
        :returns: the removed entries.
        """
        for each in needed:
            # An entry that was added while no agent was connected was not sent.
            if entry := self.sent.get(each):
                entry.needed_at = now
        idle = [each for each in self.sent if each not in needed]
        idle.sort(key=lambda each: self.sent[each].needed_at)
        excess = len(self.sent) - KEPT_WHEN_FULL if len(self.sent) > MOST_KEPT else 0
        gone = [
            each
            for place, each in enumerate(idle)
            if place < excess or now - self.sent[each].needed_at >= _kept_seconds(each)
        ]
        for each in gone:
            del self.sent[each]
        # The needed entries alone may exceed MOST_KEPT; a sweep for each new route would be slow.
        self._most = max(MOST_KEPT, 2 * len(needed))
        self.sweep_at = now + (ALL_KEPT_SECONDS if ALL in self.sent else SWEEP_SECONDS)
        return gone


def _kept_seconds(entry: FilterEntry) -> float:
    return ALL_KEPT_SECONDS if entry == ALL else KEPT_SECONDS
