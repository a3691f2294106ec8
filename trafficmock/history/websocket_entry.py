"""The entry of a WebSocket."""

from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import UNSET, field

from trafficmock.history.entry import CACHED_JSON, HistoryEntry
from trafficmock.history.rest_records import SocketEvent, SocketRecord, encode
from trafficmock.history.search import claimants, fold_in_windows, lines

MAX_EVENTS = 500
"""The most events of one WebSocket; the oldest is dropped (protocol 3)."""

_EVENTS_AT_ONCE = 50
_CHARACTERS_AT_ONCE = 64 * 1024
_WIDEST = 8  # bytes


def frame_size(data: str) -> int:
    """Return an upper bound of the memory of a frame in bytes.

    A string beyond ASCII has up to four bytes for each character, and CPython may cache its UTF-8
    with up to four more. To know the exact number would take a pass over all characters.
    """
    return len(data) if data.isascii() else _WIDEST * len(data)


class SocketEntry(HistoryEntry[SocketRecord], kw_only=True):
    """The entry of one WebSocket; the events, newest first, are not in the record."""

    record: SocketRecord
    events: deque[SocketEvent] = field(default_factory=deque)
    closed_sides: set[str] = field(default_factory=set)

    @property
    def action(self) -> str:
        """The ``outcome`` of the WebSocket."""
        return self.record.outcome

    def parts(self) -> Iterable[object]:
        """Return the events whose frames count in the byte budget."""
        return [event for event in self.events if event.data]

    def cut(self, part: object) -> None:
        """Drop the frame of the event ``part``, and mark the event as truncated."""
        if isinstance(part, SocketEvent):
            part.data, part.truncated = UNSET, True
            self.changed()

    def log(self, event: SocketEvent) -> SocketEvent | None:
        """Add an event as the newest.

        :returns: the oldest event if it was dropped, for the byte budget to release.
        """
        oldest = self.events.pop() if len(self.events) == MAX_EVENTS else None
        self.events.appendleft(event)
        return oldest

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the short texts that a search reads, with the scores of protocol 3."""
        record = self.record
        yield 100, record.url
        yield (
            70,
            lines(
                record.outcome,
                record.title,
                record.path,
                record.test_id,
                record.client_id,
                record.error_code,
                record.error_message,
                claimants(record.matches),
            ),
        )

    def deep_texts(self, overlap: int) -> Iterator[str]:
        """Yield the texts with score 20, case-folded; see :meth:`.HistoryEntry.deep_texts`."""
        for event in tuple(self.events):
            yield lines(event.kind, event.detail).casefold()
            if event.data:
                yield from fold_in_windows(event.data, overlap)

    def _build(self) -> Iterator[bytes]:
        revision, length, chunks = self.revision, 0, []
        for chunk in self._pieces():
            length += len(chunk)
            if length <= CACHED_JSON:
                chunks.append(chunk)
            yield chunk
        if length <= CACHED_JSON and revision == self.revision:
            self._chunks = (b"".join(chunks),)

    def _pieces(self) -> Iterator[bytes]:
        """Yield the JSON in pieces with a bounded number of events and, roughly, of bytes."""
        events = tuple(self.events)
        yield encode(self.record)[:-1] + b',"events":['
        separator = b""
        for batch in _batches(events):
            yield separator + encode(batch)[1:-1]
            separator = b","
        yield b"]}"

    def _build_summary(self) -> bytes:
        return encode(self.record)


def _batches(events: tuple[SocketEvent, ...]) -> Iterator[list[SocketEvent]]:
    batch: list[SocketEvent] = []
    characters = 0
    for event in events:
        batch.append(event)
        characters += len(event.data or "")
        if len(batch) == _EVENTS_AT_ONCE or characters > _CHARACTERS_AT_ONCE:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
