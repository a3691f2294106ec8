"""Finds entries by exact filters and by a ranked text search, in small steps."""

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from trafficmock.history.entry import HistoryEntry
from trafficmock.history.query import Query
from trafficmock.history.rest_records import encode
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic
from trafficmock.wire.payloads.serialized_request import HeaderPairs

E = TypeVar("E", bound=HistoryEntry[Any])

_ENTRIES_A_STEP = 50
_CHARACTERS_A_STEP = 64 * 1024


def slices(query: Query, serials: list[int], at: Callable[[int], E | None]) -> Iterator[list[E]]:
    """Yield the entries of a query in steps of about a millisecond.

    Entries are referred to by serial and looked up one by one, so that a paused reader
    keeps no entry alive.

    :param serials: the serials of the entries to compare, newest first.
    :param at: returns the entry of a serial, or ``None`` if it is removed or hidden.
    :returns: for each step the entries found; an empty list while a search goes on.
    """
    if query.limit == 0:
        return
    if query.q:
        serials = yield from _rank(query, serials, at)
        query = Query(offset=query.offset, limit=query.limit)
    yield from _filter(query, serials, at)


def _filter(query: Query, serials: list[int], at: Callable[[int], E | None]) -> Iterator[list[E]]:
    found: list[E] = []
    passed = 0
    for looked, serial in enumerate(serials, 1):
        entry = at(serial)
        if entry is not None and query.accepts(entry):
            passed += 1
            if passed > query.offset:
                found.append(entry)
            if passed == query.end:
                break
        if looked % _ENTRIES_A_STEP == 0:
            yield found
            found = []
    yield found


def _rank(
    query: Query, serials: list[int], at: Callable[[int], E | None]
) -> Generator[list[E], None, list[int]]:
    """Return the serials of the entries that contain the text: best score first, then newest.

    Heads are searched first. Bodies and events, which are long and have the lowest score, are
    searched only until the requested part of the result is complete.
    """
    needle = query.q.casefold()
    by_score = yield from _rank_heads(needle, query, serials, at)
    ranked = by_score[100] + by_score[70] + by_score[40]
    spent = 0
    for serial in by_score[0]:
        if query.end is not None and len(ranked) >= query.end:
            break
        entry = at(serial)
        for text in () if entry is None else entry.deep_texts(len(needle) - 1):
            spent += len(text)
            if needle in text:
                ranked.append(serial)
                break
            if spent > _CHARACTERS_A_STEP:
                yield []
                spent = 0
    return ranked


def _rank_heads(
    needle: str, query: Query, serials: list[int], at: Callable[[int], E | None]
) -> Generator[list[E], None, dict[int, list[int]]]:
    by_score: dict[int, list[int]] = {100: [], 70: [], 40: [], 0: []}
    for looked, serial in enumerate(serials, 1):
        entry = at(serial)
        if entry is not None and query.accepts(entry):
            by_score[_shallow_score(entry, needle)].append(serial)
        if len(by_score[100]) == query.end:
            break
        if looked % _ENTRIES_A_STEP == 0:
            yield []
    return by_score


def _shallow_score(entry: HistoryEntry[Any], needle: str) -> int:
    """Return the score of the first short text with the needle; 0 if there is none."""
    for score, text in entry.texts():
        if needle in text.casefold():
            return score
    return 0


_WINDOW = 64 * 1024  # characters


def lines(*texts: str | UnsetType) -> str:
    """Join the texts that are not ``UNSET`` by newlines."""
    return "\n".join([text for text in texts if text is not UNSET])


def claimants(matches: list[RouteMatchDiagnostic] | UnsetType) -> str | UnsetType:
    """Return titles, files and ids of the tests that matched an ambiguous request, as lines."""
    if matches is UNSET:
        return UNSET
    return lines(*(text for one in matches for text in (one.title, one.file, one.test_id)))


def header_lines(headers: dict[str, str], pairs: HeaderPairs | UnsetType) -> str:
    """Return headers as lines ``name:value``: the ordered pairs if there are any."""
    listed = headers.items() if pairs is UNSET else pairs
    return "\n".join([f"{name}:{value}" for name, value in listed])


def matches_weight(matches: list[RouteMatchDiagnostic] | None) -> int:
    """Return the number of bytes of an error's matching routes in JSON."""
    return 0 if matches is None else len(encode(matches))


def fold_in_windows(text: str, overlap: int) -> Iterator[str]:
    """Yield a long text case-folded in windows, so that a reader can pause.

    :param overlap: characters that a window repeats of the one before.
    """
    tail = ""
    for start in range(0, len(text), _WINDOW):
        window = tail + text[start : start + _WINDOW].casefold()
        yield window
        tail = window[-overlap:] if overlap else ""
