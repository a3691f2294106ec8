"""The common part of the history's entries, for one request or one WebSocket, and their JSON.

The JSON is the record of protocol 3, without absent keys. A body that is not complete has
``truncated: true`` and the whole size, ``bodySize``, beside its ``bodyBase64`` (its beginning, or
``null`` if the byte budget dropped it): in ``request``, in ``outcome.response`` or in
``overrides``. A body that is still arriving has ``bodyPending: true`` there. The event of a
dropped frame has ``truncated: true`` in place of ``data``.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from msgspec import UNSET, Struct, UnsetType

from trafficmock.history.rest_records import RequestRecord, SocketRecord
from trafficmock.records import MOST_ALSO_MATCHED, CarriedContext, Owner
from trafficmock.wire.payloads.quiet_repr import quiet_repr

CACHED_JSON = 32 * 1024
"""The most bytes of JSON that an entry caches, besides bodies that are kept as JSON anyway. Longer
JSON is built for each read: cached, it would double the memory that the byte budget bounds."""

MAX_DETAIL = 1000
"""The most characters of an event's detail."""

R = TypeVar("R", RequestRecord, SocketRecord)


class HistoryEntry(Struct, Generic[R], eq=False, kw_only=True):
    """The parent of the entries of requests and of WebSockets.

    :param timestamp: epoch ms of the arrival of the request or WebSocket.
    :param on_change: called with the entry after each change of the record.
    :param serial: the position in the history: a later entry has a higher number.
    :param revision: changes with the JSON; no two entries have the same one.
    :param weight: characters of the head, which is dropped only with the entry.
    """

    id: str
    timestamp: int
    client_id: str
    on_change: Callable[[Any], None]
    serial: int = 0
    revision: int = 0
    weight: int = 0
    _chunks: tuple[bytes, ...] | None = None
    _summary: bytes | None = None

    __repr__ = quiet_repr

    @property
    @abstractmethod
    def record(self) -> R:
        """The record that is encoded as JSON, without bodies and frames."""

    @property
    def test_id(self) -> str | UnsetType:
        return self.record.test_id

    @property
    @abstractmethod
    def action(self) -> str:
        """The ``action`` of a request or the ``outcome`` of a WebSocket, such as ``pending``."""

    @property
    def method(self) -> str:
        """The HTTP method; for a WebSocket that of the handshake (RFC 6455 section 4.1)."""
        return "GET"

    @property
    def status(self) -> int | None:
        """The status of the response; ``None`` without a response."""
        return None

    @property
    def pending(self) -> bool:
        """Whether the request or WebSocket is not decided yet."""
        return self.action == "pending"

    @abstractmethod
    def parts(self) -> Iterable[object]:
        """Return the bodies or frames that count in the byte budget; some may be ``None``."""

    @abstractmethod
    def cut(self, part: object) -> None:
        """Drop the body or frame ``part``, and mark the JSON as truncated."""

    @abstractmethod
    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the short texts that a search reads, with their scores, best score first."""

    @abstractmethod
    def deep_texts(self, overlap: int) -> Iterator[str]:
        """Yield the texts with score 20 (events, overrides, bodies), case-folded.

        Long texts come in windows.

        :param overlap: characters that a window repeats of the one before.
        """

    @abstractmethod
    def _build(self) -> Iterator[bytes]:
        """Yield the JSON in pieces; short JSON is cached in ``_chunks``."""

    @abstractmethod
    def _build_summary(self) -> bytes:
        """Return the JSON without bodies, headers and events."""

    def changed(self) -> None:
        """Drop the cached JSON after a change of the record, and call ``on_change``."""
        self._chunks = self._summary = None
        self.on_change(self)

    def chunks(self) -> Iterator[bytes]:
        """Yield the JSON in pieces, so that a long entry can be sent with pauses.

        With the first piece the set of events is fixed; a change between two pieces does not make
        the JSON invalid.
        """
        return self._build() if self._chunks is None else iter(self._chunks)

    def to_json(self) -> bytes:
        """Return the record as JSON."""
        return b"".join(self.chunks())

    def summary_json(self) -> bytes:
        """Return the record as JSON without bodies, headers and events, cached until a change."""
        if self._summary is None:
            self._summary = self._build_summary()
        return self._summary

    @property
    def late(self) -> bool:
        """Whether the request or WebSocket carried the context of a test that had ended."""
        return self.record.late is True

    def carries(self, test: CarriedContext | None) -> None:
        """Write the test whose context the request or WebSocket carries into the record.

        The entry is not in the rows yet, so :meth:`changed` is not needed.
        """
        if test is not None:
            record = self.record
            record.test_id, record.title, record.path = test.test_id, test.title, test.file
            record.has_context, record.late = True, test.late or UNSET

    def own(self, owner: Owner | None) -> None:
        """Write the owner into the record; the caller calls :meth:`changed`.

        The test of a context stays, also if a shared route of the worker decides, unless it had
        ended: then the request is that of the running test which got it.
        """
        if owner is not None:
            record = self.record
            record.route_id = owner.route_id
            record.route = owner.route or UNSET
            record.other_tests = owner.other_tests or UNSET
            if record.late is True and record.test_id != owner.test_id:
                record.late_of, record.has_context, record.test_id = record.title, UNSET, UNSET
            if record.test_id is UNSET:
                record.test_id, record.title, record.path = owner.test_id, owner.title, owner.file

    def passed(self, also_matched: tuple[str, ...]) -> int:
        """Write the routes of other tests that match a request which passed through.

        :param also_matched: as in :class:`trafficmock.records.RequestPassedThrough`.
        :returns: the characters that the head of the entry has gained.
        """
        kept = also_matched[:MOST_ALSO_MATCHED]
        if kept:
            self.record.also_matched = list(kept)
        return sum(map(len, kept))
