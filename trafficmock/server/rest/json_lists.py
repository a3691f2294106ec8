"""The JSON of lists and entries, in chunks that are made when they are asked for.

An entry may change or go between two chunks: what a list holds is what was there
when its turn came.
"""

from collections.abc import Callable, Iterator
from typing import Any

from trafficmock.history.entry import HistoryEntry
from trafficmock.http.responses import encode

_GROUP = 32
"""Summaries sent as one chunk: small enough to give way, large enough to cost little."""


def listed(
    name: str,
    batches: Iterator[list[Any]],
    show: Callable[[list[Any], bytes], Iterator[bytes]],
    removed: list[str] | None = None,
) -> Iterator[bytes]:
    """Write a list under a name, each batch as it is found.

    :param batches: an empty one is a step of a search, and gives an empty chunk.
    :param show: writes a batch, with a text in front of its first entry.
    :param removed: ids of what is gone, for a list of changes.
    """
    yield b"{"
    if removed is not None:
        yield encode({"removed": removed})[1:-1] + b","
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
    """Write whole entries; ``before`` goes in front of the first."""
    for entry in batch:
        yield before
        yield from entry.chunks()
        before = b","


def summaries(batch: list[Any], before: bytes) -> Iterator[bytes]:
    """Write entries without bodies, headers and events; ``before`` goes in front of the first."""
    for start in range(0, len(batch), _GROUP):
        yield before + b",".join([entry.summary_json() for entry in batch[start : start + _GROUP]])
        before = b","


def wrapped(name: str, entry: HistoryEntry[Any]) -> Iterator[bytes]:
    """Write one whole entry under a name."""
    yield b'{"%s":' % name.encode("ascii")
    yield from entry.chunks()
    yield b"}"
