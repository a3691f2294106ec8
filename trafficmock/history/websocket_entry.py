"""The entry of a WebSocket."""

from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import UNSET, field

from trafficmock.history.entry import CACHED_JSON, HistoryEntry
from trafficmock.history.rest_records import SocketEvent, SocketRecord, encode
from trafficmock.history.search import claimants, fold_in_windows, lines

MAX_EVENTS = 500
"""Events kept of one WebSocket, the newest (protocol 3)."""

_EVENTS_AT_ONCE = 50
_CHARACTERS_AT_ONCE = 64 * 1024
_WIDEST = 8  # bytes


def frame_size(data: str) -> int:
    """Count the bytes that a frame takes in memory, at most.

    Beyond ASCII a string has up to four bytes for each character, and encoding it leaves up to
    four more beside it; which it is would take looking at all of them.
    """
    return len(data) if data.isascii() else _WIDEST * len(data)


class SocketEntry(HistoryEntry[SocketRecord], kw_only=True):
    """One WebSocket connection. Its events stand here, newest first, and beside the record."""

    record: SocketRecord
    events: deque[SocketEvent] = field(default_factory=deque)
    closed_sides: set[str] = field(default_factory=set)

    @property
    def action(self) -> str:
        """What was done; for a WebSocket its outcome."""
        return self.record.outcome

    def parts(self) -> Iterable[object]:
        """List what the byte budget may hold of it."""
        return [event for event in self.events if event.data]

    def cut(self, part: object) -> None:
        """Drop ``part`` and say so in the JSON."""
        if isinstance(part, SocketEvent):
            part.data, part.truncated = UNSET, True
            self.changed()

    def log(self, event: SocketEvent) -> SocketEvent | None:
        """Put an event on top.

        :returns: the oldest one when it had to make room, for the byte budget to forget.
        """
        oldest = self.events.pop() if len(self.events) == MAX_EVENTS else None
        self.events.appendleft(event)
        return oldest

    def texts(self) -> Iterator[tuple[int, str]]:
        """List the short texts that a search looks at (protocol 3 gives the scores)."""
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
        """List the texts that score 20, case-folded."""
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
        """Write the JSON in pieces of a bounded number of events and, roughly, of bytes."""
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
