"""What is remembered of one request or one WebSocket, and its JSON.

The JSON is the record of protocol 3, absent keys left out. When a body was not kept whole,
``truncated: true`` and its true ``bodySize`` stand beside its ``bodyBase64`` (its beginning, or
``null`` where the byte budget took it): in ``request``, in ``outcome.response`` or in
``overrides``. While it arrives, ``bodyPending: true`` stands there. A frame that was taken has
``truncated: true`` in its event, in place of ``data``.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from msgspec import UNSET, Struct, UnsetType

from trafficmock.history.rest_records import RequestRecord, SocketRecord
from trafficmock.records import MadeFor, Owner

CACHED_JSON = 32 * 1024
"""Bytes of JSON (bodies not counted) that an entry caches; what is longer is built per read,
lest the cache double the memory that the byte budget bounds."""

MAX_DETAIL = 1000
"""Characters of an event's detail; the events are a short timeline."""

R = TypeVar("R", RequestRecord, SocketRecord)


class HistoryEntry(Struct, Generic[R], eq=False, kw_only=True):
    """What both kinds of entry have in common.

    :param timestamp: epoch ms when it was observed.
    :param on_change: called whenever the record has changed.
    :param serial: its place in the history: a later entry has a higher number.
    :param revision: changes whenever the JSON does; no two entries share one.
    :param weight: characters of its head, which cannot be dropped without the entry.
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

    @property
    @abstractmethod
    def record(self) -> R:
        """The JSON to be, without bodies and frames."""

    @property
    def test_id(self) -> str | UnsetType:
        return self.record.test_id

    @property
    @abstractmethod
    def action(self) -> str:
        """What was done; for a WebSocket its outcome."""

    @property
    def method(self) -> str:
        """The HTTP method; of a WebSocket that of its handshake (RFC 6455 section 4.1)."""
        return "GET"

    @property
    def status(self) -> int | None:
        """The status of the response; ``None`` while, or when, there is none."""
        return None

    @property
    def pending(self) -> bool:
        """Whether nobody has decided yet."""
        return self.action == "pending"

    @abstractmethod
    def parts(self) -> Iterable[object]:
        """List the bodies or frames that the byte budget may hold; some may be ``None``."""

    @abstractmethod
    def cut(self, part: object) -> None:
        """Drop the body or frame ``part`` and say so in the JSON."""

    @abstractmethod
    def texts(self) -> Iterator[tuple[int, str]]:
        """List the short texts that a search looks at, with their scores, best first."""

    @abstractmethod
    def deep_texts(self, overlap: int) -> Iterator[str]:
        """List the texts that score 20 (events, overrides, bodies), case-folded.

        :param overlap: how many characters a piece of a long text repeats of the one before.
        """

    @abstractmethod
    def _build(self) -> Iterator[bytes]:
        """Make the JSON, and cache it in ``_chunks`` when it is short."""

    @abstractmethod
    def _build_summary(self) -> bytes:
        """Make the JSON without bodies, headers and events."""

    def changed(self) -> None:
        """Forget the JSON: the record has become another one."""
        self._chunks = self._summary = None
        self.on_change(self)

    def chunks(self) -> Iterator[bytes]:
        """Give the JSON in pieces, so that a long entry can be sent with pauses.

        The first piece fixes what is shown; a change between two pieces harms nothing.
        """
        return self._build() if self._chunks is None else iter(self._chunks)

    def to_json(self) -> bytes:
        """Give the whole record as JSON."""
        return b"".join(self.chunks())

    def summary_json(self) -> bytes:
        """Give the record without bodies, headers and events; built once per change."""
        if self._summary is None:
            self._summary = self._build_summary()
        return self._summary

    @property
    def late(self) -> bool:
        """Whether it carried the context of a test that had ended."""
        return self.record.late is True

    def made_for(self, test: MadeFor | None) -> None:
        """Write down the test whose context it carries; the entry is not shown yet."""
        if test is not None:
            record = self.record
            record.test_id, record.title, record.path = test.test_id, test.title, test.file
            record.has_context, record.late = True, test.late or UNSET

    def own(self, owner: Owner | None) -> None:
        """Write down whose it is; the caller says that it changed.

        What carries a context stays its test's, also where shared routes of the worker decide.
        """
        if owner is not None:
            record = self.record
            record.route_id = owner.route_id
            if record.test_id is UNSET:
                record.test_id, record.title, record.path = owner.test_id, owner.title, owner.file

    def passed(self, also_matched: tuple[str, ...]) -> int:
        """Write down the routes of other tests that match what passed under a context.

        :returns: by how many characters the head of the entry has grown.
        """
        if also_matched:
            self.record.also_matched = list(also_matched)
        return sum(map(len, also_matched))
