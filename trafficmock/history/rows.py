"""Rows: the entries of one kind, in order, bounded by number and by the size of their heads.

The byte budget bounds bodies and frames, and drops the oldest first.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import chain, takewhile
from typing import Any, Generic, Protocol, TypeVar

from attrs import Factory, define, field

from trafficmock.history.entry import HistoryEntry
from trafficmock.history.query import Query
from trafficmock.history.rest_records import Totals
from trafficmock.history.search import slices
from trafficmock.history.traffic_counts import DecisionCounts
from trafficmock.wire.limits import or_unlimited

E = TypeVar("E", bound=HistoryEntry[Any])

_HEADS_AT_LEAST = 16 * 1024 * 1024
_HEADS_PER_ROW = 4 * 1024
_REMOVALS_KEPT = 10_000
_LONGEST_NOTED_ID = 200  # characters


class Holder(Protocol):
    """An entry whose bodies or frames can be dropped."""

    def cut(self, part: object) -> None:
        """Drop ``part``, which this holder passed to the budget, and mark the JSON as truncated."""


@define(eq=False)
class ByteBudget:
    """The bodies and frames of both sets of rows, oldest first.

    :param limit: bytes in stored form (bodies that came in messages in base64); 0 is no limit. A
        single part above it is dropped at once.
    """

    limit: int
    used: int = 0
    _parts: OrderedDict[object, tuple[Holder, int]] = Factory(OrderedDict)

    def __attrs_post_init__(self) -> None:
        self.limit = or_unlimited(self.limit)

    def __len__(self) -> int:
        return len(self._parts)

    def hold(self, holder: Holder, part: object, size: int) -> None:
        """Add ``part``, and drop the oldest parts until the sum is within the limit.

        :param size: bytes in stored form.
        """
        if size > self.limit:
            holder.cut(part)
            return
        self._parts[part] = holder, size
        self.used += size
        while self.used > self.limit:
            oldest, (owner, freed) = self._parts.popitem(last=False)
            self.used -= freed
            owner.cut(oldest)

    def release(self, part: object) -> None:
        """Remove a part that was replaced or whose entry was removed; ignore an unknown one."""
        known = self._parts.pop(part, None)
        if known is not None:
            self.used -= known[1]

    def release_all(self, parts: Iterable[object]) -> None:
        """Remove the parts of a removed entry; ``None`` among them is ignored."""
        counted = self._parts
        for part in parts:
            if part in counted:
                self.used -= counted.pop(part)[1]


@define(eq=False, kw_only=True)
class Rows(Generic[E]):
    """Entries by id and by age. To add, find, settle or remove one takes constant time, apart
    from a heap of numbers.

    An entry is **settled** when its request or WebSocket is decided. Above a bound, the oldest
    settled entry is removed, or the oldest pending one if all are pending. There are two bounds:
    ``limit``, and the size of all heads (ids, URLs, headers, texts), which is 16 MiB, or 4 KiB for
    each entry of ``limit`` if that is more.

    :param limit: the most entries.
    :param budget: bounds bodies and frames.
    :param hides_pending: whether an entry is shown only after it is settled. Hidden entries do not
        count among the others, and have the bound ``limit`` of their own.
    :param counts: counts requests or WebSockets, whether kept or not.
    :ivar dropped: how many entries were removed for a bound.
    """

    limit: int
    budget: ByteBudget
    counts: DecisionCounts
    hides_pending: bool = False
    revision: int = 0
    dropped: int = 0
    weight: int = 0
    _serial: int = 0
    _by_id: dict[str, E] = Factory(dict)
    _by_serial: dict[int, E] = Factory(dict)
    _pending: OrderedDict[int, E] = Factory(OrderedDict)
    _settled: list[int] = Factory(list)
    _removals: deque[tuple[int, str]] = Factory(lambda: deque(maxlen=_REMOVALS_KEPT))
    _forgotten: int = 0
    _heads: int = field(init=False)
    find: Callable[[str], E | None] = field(init=False)
    """Returns an entry, also a hidden one; ``None`` for an unknown id."""

    @_heads.default
    def _most_characters_of_heads(self) -> int:
        return max(_HEADS_AT_LEAST, self.limit * _HEADS_PER_ROW)

    @find.default
    def _find(self) -> Callable[[str], E | None]:
        # The dictionary's own method: each stage of each request looks its entry up.
        return self._by_id.get

    def __len__(self) -> int:
        return len(self._by_serial) - (len(self._pending) if self.hides_pending else 0)

    def totals(self) -> Totals:
        """Return the counts since the start, which no bound touches."""
        counts = self.counts
        decided = counts.all
        return Totals(counts.seen, decided.decisions, len(self), self.dropped, decided.hosts)

    def get(self, entry_id: str) -> E | None:
        """Return an entry that is shown, else ``None``."""
        entry = self._by_id.get(entry_id)
        return None if entry is None or (self.hides_pending and entry.pending) else entry

    def add(self, entry: E, part: object = None, size: int = 0) -> None:
        """Add an entry as the newest; an earlier entry with the same id is removed.

        :param part: the body of the entry, of ``size`` bytes, if there is one.
        """
        entry_id = entry.id
        earlier = self._by_id.get(entry_id)
        if earlier is not None:
            self.remove(earlier)
            self._forget_replaced()
        serial = entry.serial = self._serial = self._serial + 1
        self._by_id[entry_id] = self._by_serial[serial] = entry
        self.weight += entry.weight
        if entry.action == "pending":
            self._pending[serial] = entry
        else:
            heappush(self._settled, serial)
        self.touch(entry)
        if part is not None:
            self.budget.hold(entry, part, size)
        if len(self._by_serial) > self.limit or self.weight > self._heads:
            self._make_room(entry)

    def settle(self, entry: E) -> None:
        """Handle that an entry has changed and is no longer pending."""
        entry.changed()
        if self._pending.pop(entry.serial, None) is not None:
            heappush(self._settled, entry.serial)
            if self.hides_pending:
                # The entry was hidden and is shown now, so one more entry counts.
                self._make_room(entry)

    def remove(self, entry: E) -> None:
        """Remove an entry with its bodies or frames."""
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
        if len(entry_id) > _LONGEST_NOTED_ID:  # clients choose ids, which may be long
            self._removals.clear()
            self._forgotten = self.revision
            return
        removals = self._removals
        if len(removals) == _REMOVALS_KEPT:
            self._forgotten = removals[0][0]
        removals.append((self.revision, entry_id))

    def removed_after(self, revision: int) -> list[str] | None:
        """Return the ids of the entries that were removed after ``revision``, oldest first.

        A later entry may have the same id.

        :param revision: of the list.
        :returns: ``None`` if the list of removals does not reach back to ``revision``, or if there
            was no such revision.
        """
        if not self._forgotten <= revision <= self.revision:
            return None
        gone = takewhile(lambda removal: removal[0] > revision, reversed(self._removals))
        return [entry_id for _, entry_id in gone][::-1]

    def touch(self, entry: E) -> None:
        """Give a changed entry a new revision."""
        if not (self.hides_pending and entry.pending):
            entry.revision = self.revision = self.revision + 1

    def hold(self, entry: E, part: object, size: int) -> None:
        """Add a body or frame of ``size`` bytes to the byte budget."""
        if entry.serial in self._by_serial:
            self.budget.hold(entry, part, size)

    def release(self, part: object) -> None:
        """Remove a replaced body or frame from the byte budget; ``None`` is ignored."""
        self.budget.release(part)

    def weigh(self, entry: E, characters: int) -> None:
        """Add ``characters`` to the weight of an entry whose head has grown."""
        if entry.serial in self._by_serial:
            entry.weight += characters
            self.weight += characters
            if self.weight > self._heads:
                self._make_room(entry)

    def query(self, query: Query) -> Iterator[E]:
        """Yield the entries of a query, newest first, or by rank if the query has a text.

        The iterator is lazy; entries that are removed meanwhile are skipped.
        """
        return chain.from_iterable(self.slices(query))

    def slices(self, query: Query) -> Iterator[list[E]]:
        """Yield the entries of a query in steps of about a millisecond, so that none blocks.

        :returns: for each step the entries found; an empty list while a search goes on.
        """
        return slices(query, list(reversed(self._by_serial)), self._shown)

    def _shown(self, serial: int) -> E | None:
        entry = self._by_serial.get(serial)
        return None if entry is None or (self.hides_pending and entry.pending) else entry

    def _make_room(self, newest: E) -> None:
        """Remove entries until all bounds are met."""
        heads = self._heads
        if newest.weight > heads:
            # This entry alone exceeds the bound: removing others would not help.
            self._drop(newest)
        if self.hides_pending and len(self._pending) > self.limit:
            self._drop(next(iter(self._pending.values())))
        while len(self) > self.limit or self.weight > heads:
            self._drop(self._oldest())

    def _drop(self, entry: E) -> None:
        self.dropped += 1
        self.remove(entry)

    def _oldest(self) -> E:
        while self._settled:
            entry = self._by_serial.get(heappop(self._settled))
            if entry is not None:
                return entry
        return next(iter(self._pending.values()))

    def _forget_replaced(self) -> None:
        """Remove the serials of replaced entries from the heap when they outnumber the others."""
        if len(self._settled) > 2 * len(self._by_serial) + 16:
            self._settled = [n for n in self._by_serial if n not in self._pending]
