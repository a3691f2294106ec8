"""Writes the JSON of lists and entries in chunks, each made when it is sent.

Entries may change or be dropped between two chunks: a list has each entry as it is when its chunk
is made.
"""

from collections.abc import Callable, Iterator
from typing import Any

from trafficmock.history.entry import HistoryEntry
from trafficmock.http.responses import encode

_GROUP = 32
"""Summaries in one chunk: few enough not to block the reactor, enough to cost little."""


def listed(
    name: str,
    batches: Iterator[list[Any]],
    show: Callable[[list[Any], bytes], Iterator[bytes]],
    removed: list[str] | None = None,
    dropped: int = 0,
) -> Iterator[bytes]:
    """Write an object with a list, one batch of entries after the other.

    :param name: the name of the list.
    :param batches: an empty batch is a step of a search, and makes an empty chunk.
    :param show: writes a batch, with a separator before its first entry: :func:`records` or
        :func:`summaries`.
    :param removed: ids of entries that are gone, for a list of changes.
    :param dropped: how many entries were dropped since the start; 0 is not written.
    """
    yield b"{"
    if removed is not None:
        yield encode({"removed": removed})[1:-1] + b","
    if dropped:
        yield b'"dropped":%d,' % dropped
    yield b'"%s":[' % name.encode("ascii")
    before = b""
    for batch in batches:
        if not batch:
            yield b""
            continue
        yield from show(batch, before)
        before = b","
    yield b"]}"


def records(batch: list[Any], before: bytes) -> Iterator[bytes]:
    """Write whole entries, with ``before`` before the first."""
    for entry in batch:
        yield before
        yield from entry.chunks()
        before = b","


def summaries(batch: list[Any], before: bytes) -> Iterator[bytes]:
    """Write entries without bodies, headers and events, with ``before`` before the first."""
    for start in range(0, len(batch), _GROUP):
        yield before + b",".join([entry.summary_json() for entry in batch[start : start + _GROUP]])
        before = b","


def wrapped(name: str, entry: HistoryEntry[Any]) -> Iterator[bytes]:
    """Write an object with one whole entry as ``name``."""
    yield b'{"%s":' % name.encode("ascii")
    yield from entry.chunks()
    yield b"}"
