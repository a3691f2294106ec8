"""Finds entries by exact filters and by a ranked search of their texts, in small steps."""

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
    """Find entries in steps of about a millisecond.

    Entries are named by number and looked up when it is their turn, so a reader that pauses
    keeps nothing alive.

    :param serials: the entries to look at, newest first.
    :param at: gives the entry of a number, or ``None`` when it is gone.
    :returns: the entries of each step, none while a search goes on.
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
    """Order the entries that contain the text: best score first, then newest.

    Heads are searched first. Bodies and events, which are long and score lowest, are searched
    only as far as the asked part of the list needs them.
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
    """Score what is not deep; the first text that has the needle wins."""
    for score, text in entry.texts():
        if needle in text.casefold():
            return score
    return 0


_WINDOW = 64 * 1024  # characters


def lines(*texts: str | UnsetType) -> str:
    """Put the texts that are there on lines of their own."""
    return "\n".join([text for text in texts if text is not UNSET])


def claimants(matches: list[RouteMatchDiagnostic] | UnsetType) -> str | UnsetType:
    """Name the tests that claimed the same thing."""
    if matches is UNSET:
        return UNSET
    return lines(*(text for one in matches for text in (one.title, one.file, one.test_id)))


def header_lines(headers: dict[str, str], pairs: HeaderPairs | UnsetType) -> str:
    """Write headers as lines ``name:value``, from the ordered pairs when there are any."""
    listed = headers.items() if pairs is UNSET else pairs
    return "\n".join([f"{name}:{value}" for name, value in listed])


def header_weight(headers: dict[str, str], pairs: HeaderPairs | UnsetType = UNSET) -> int:
    """Count the characters of headers."""
    # Joining costs a tenth of adding up the lengths.
    count = len("".join(headers)) + len("".join(headers.values()))
    if pairs is not UNSET:
        count += sum(len(name) + len(value) for name, value in pairs)
    return count


def matches_weight(matches: list[RouteMatchDiagnostic] | None) -> int:
    """Count the characters of the routes that an error names."""
    return 0 if matches is None else len(encode(matches))


def fold_in_windows(text: str, overlap: int) -> Iterator[str]:
    """Fold the case of a long text, a window at a time, so that a reader may pause.

    :param overlap: how many characters of a window the next one repeats.
    """
    tail = ""
    for start in range(0, len(text), _WINDOW):
        window = tail + text[start : start + _WINDOW].casefold()
        yield window
        tail = window[-overlap:] if overlap else ""
