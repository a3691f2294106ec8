"""Rows: the entries of one kind, in order, bounded by count and by the size of their heads."""

from collections import OrderedDict, deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain, takewhile
from typing import Any, Generic, TypeVar

from attrs import Factory, define, field

from trafficmock.history.budget import ByteBudget
from trafficmock.history.entry import HistoryEntry
from trafficmock.history.query import Query
from trafficmock.history.search import slices

E = TypeVar("E", bound=HistoryEntry[Any])

_HEADS_AT_LEAST = 16 * 1024 * 1024
_HEADS_PER_ROW = 4 * 1024
_REMOVALS_KEPT = 10_000
_LONGEST_NOTED_ID = 200  # characters


@define(eq=False, kw_only=True)
class Rows(Generic[E]):
    """Entries by id and by age. Adding, finding, settling and dropping do not depend on how
    many there are, but for a heap of numbers.

    Over a bound, the oldest settled entry goes; only when all are pending, the oldest of those.
    Heads (ids, URLs, headers, texts) cannot be dropped from an entry, so entries go as well when
    all heads together pass 16 MiB, or 4 KiB for each row of the limit if that is more.

    :param limit: how many entries at most.
    :param budget: what bounds bodies and frames.
    :param hides_pending: whether an entry is shown only once it is settled. Those that are
        hidden do not take the place of others, and are bounded by ``limit`` on their own.
    """

    limit: int
    budget: ByteBudget
    hides_pending: bool = False
    revision: int = 0
    weight: int = 0
    _serial: int = 0
    _by_id: dict[str, E] = Factory(dict)
    _by_serial: dict[int, E] = Factory(dict)
    _pending: OrderedDict[int, E] = Factory(OrderedDict)
    _settled: list[int] = Factory(list)
    _removals: deque[tuple[int, str]] = Factory(lambda: deque(maxlen=_REMOVALS_KEPT))
    _forgotten: int = 0
    _heads: int = field(init=False)

    @_heads.default
    def _most_characters_of_heads(self) -> int:
        return max(_HEADS_AT_LEAST, self.limit * _HEADS_PER_ROW)

    def __len__(self) -> int:
        return len(self._by_serial) - (len(self._pending) if self.hides_pending else 0)

    def get(self, entry_id: str) -> E | None:
        """Find an entry that is shown, else ``None``."""
        entry = self._by_id.get(entry_id)
        return None if entry is None or (self.hides_pending and entry.pending) else entry

    def find(self, entry_id: str) -> E | None:
        """Find an entry, also one that is not shown yet."""
        return self._by_id.get(entry_id)

    def add(self, entry: E, part: object = None, size: int = 0) -> None:
        """Take an entry in as the newest; an earlier one with its id goes.

        :param part: its body, of ``size`` bytes, if there is one.
        """
        entry_id = entry.id
        earlier = self._by_id.get(entry_id)
        if earlier is not None:
            self.remove(earlier)
            self._forget_replaced()
        serial = entry.serial = self._serial = self._serial + 1
        self._by_id[entry_id] = self._by_serial[serial] = entry
        self.weight += entry.weight
        if entry.pending:
            self._pending[serial] = entry
        else:
            heappush(self._settled, serial)
        self.touch(entry)
        if part is not None:
            self.budget.hold(entry, part, size)
        if len(self._by_serial) > self.limit or self.weight > self._heads:
            self._make_room(entry)

    def settle(self, entry: E) -> None:
        """Note that an entry has changed and is not pending."""
        entry.changed()
        if self._pending.pop(entry.serial, None) is not None:
            heappush(self._settled, entry.serial)
            if self.hides_pending:
                # It is shown from now on, so that there is one more.
                self._make_room(entry)

    def remove(self, entry: E) -> None:
        """Drop an entry with all that it holds."""
        serial, entry_id = entry.serial, entry.id
        if self._by_serial.pop(serial, None) is None:
            return
        del self._by_id[entry_id]
        was_pending = self._pending.pop(serial, None) is not None
        self.weight -= entry.weight
        self.budget.release_all(entry.parts())
        if not (was_pending and self.hides_pending):
            self.revision += 1
            self._note_removal(entry_id)

    def _note_removal(self, entry_id: str) -> None:
        if len(entry_id) > _LONGEST_NOTED_ID:  # clients choose ids: the notes must stay small
            self._removals.clear()
            self._forgotten = self.revision
            return
        removals = self._removals
        if len(removals) == _REMOVALS_KEPT:
            self._forgotten = removals[0][0]
        removals.append((self.revision, entry_id))

    def removed_after(self, revision: int) -> list[str] | None:
        """List the ids of what went after ``revision`` of the list, oldest first.

        An id may have come back since. ``None``: it is too long ago to know, or was never.
        """
        if not self._forgotten <= revision <= self.revision:
            return None
        gone = takewhile(lambda removal: removal[0] > revision, reversed(self._removals))
        return [entry_id for _, entry_id in gone][::-1]

    def touch(self, entry: E) -> None:
        """Note that an entry has changed."""
        if not (self.hides_pending and entry.pending):
            entry.revision = self.revision = self.revision + 1

    def hold(self, entry: E, part: object, size: int) -> None:
        """Keep a body or frame of ``size`` bytes, as long as the byte budget allows."""
        if entry.serial in self._by_serial:
            self.budget.hold(entry, part, size)

    def release(self, part: object) -> None:
        """Forget a body or frame that was replaced; ``None`` is ignored."""
        self.budget.release(part)

    def weigh(self, entry: E, characters: int) -> None:
        """Note that the head of an entry has grown."""
        if entry.serial in self._by_serial:
            entry.weight += characters
            self.weight += characters
            if self.weight > self._heads:
                self._make_room(entry)

    def query(self, query: Query) -> Iterator[E]:
        """Find entries, newest first, or by rank when the query searches.

        It is lazy and may be left half-way; entries that go meanwhile are passed over.
        """
        return chain.from_iterable(self.slices(query))

    def slices(self, query: Query) -> Iterator[list[E]]:
        """Do what :meth:`query` does in small steps, for a caller that must not block.

        Each step takes about a millisecond, and gives the entries that it found: none, while
        a search goes on.
        """
        return slices(query, list(reversed(self._by_serial)), self._shown)

    def _shown(self, serial: int) -> E | None:
        entry = self._by_serial.get(serial)
        return None if entry is None or (self.hides_pending and entry.pending) else entry

    def _make_room(self, newest: E) -> None:
        """Drop entries until all bounds are kept."""
        heads = self._heads
        if newest.weight > heads:
            # It could not stay in any case; the others must not go for it.
            self.remove(newest)
        if self.hides_pending and len(self._pending) > self.limit:
            self.remove(next(iter(self._pending.values())))
        while len(self) > self.limit or self.weight > heads:
            self.remove(self._oldest())

    def _oldest(self) -> E:
        while self._settled:
            entry = self._by_serial.get(heappop(self._settled))
            if entry is not None:
                return entry
        return next(iter(self._pending.values()))

    def _forget_replaced(self) -> None:
        """Drop the numbers of rows that were replaced, before they outnumber the rows."""
        if len(self._settled) > 2 * len(self._by_serial) + 16:
            self._settled = [n for n in self._by_serial if n not in self._pending]
