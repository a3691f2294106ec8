"""The entry of an HTTP request."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import UNSET, UnsetType, field, structs

from trafficmock.history.entry import CACHED_JSON, MAX_DETAIL, HistoryEntry
from trafficmock.history.rest_records import (
    BODY_HERE,
    HttpEvent,
    RequestOutcome,
    RequestRecord,
    encode,
    encode_around,
    summarise,
)
from trafficmock.history.search import claimants, header_lines, lines
from trafficmock.history.stored_messages import (
    Body,
    awaited,
    folded_windows,
    header_weight,
    keep,
    without_body,
)
from trafficmock.records import Owner
from trafficmock.wire.payloads.body import MessageBody
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_MOST_UNWRITTEN = 4
"""The most stages that wait in an entry; hardly any request has more."""

PIECE = "piece"
"""The kind of the event of a piece of an answer."""

MAX_EVENTS = 100
"""The most events of one request, without pieces of its answer, so that an agent that repeats
messages cannot fill the memory."""

MAX_PIECES = 1000
"""The most pieces of one answer; later ones count as parts of the last of them."""

_PIECE_WEIGHT = 100
"""The characters that the event of a piece counts."""


WriteStep = Callable[["RequestEntry", Any, int], None]
"""Writes one stage of a request into its record: gets the entry, the event's data, and epoch ms."""


class RequestEntry(HistoryEntry[RequestRecord], kw_only=True):
    """The entry of one HTTP request.

    The record has placeholders for bodies; the bodies are attributes of the entry.

    Most entries are dropped before they are read, and writing a record costs several times as much
    as keeping an entry. The stages of a request (arrival, decision, response) therefore wait in
    the entry until ``record`` is read. The head of the response is not among the waiting stages:
    the entry keeps the latest head only, which counts in its weight.

    :param request: the request as the application sent it, without its body.
    :param action: the ``action`` of the record.
    :param elsewhere: as of :class:`~trafficmock.records.RequestSeen`.
    :param unwritten: the stages that wait, with their data and time.
    """

    request: SerializedRequest
    action: str = "pending"
    elsewhere: str | None = None
    request_body: Body | None = None
    response_body: Body | None = None
    overrides_body: Body | None = None
    unwritten: list[tuple[WriteStep, Any, int]] = field(default_factory=list)
    _record: RequestRecord | None = None
    _response: SerializedResponse | UnsetType = UNSET
    _response_weight: int = 0
    _pieces: int = 0

    @property
    def record(self) -> RequestRecord:
        """The record that is encoded as JSON, with all stages so far."""
        if self.unwritten:
            self._write()
        if self._record is None:
            self._record = self._begin()
        return self._record

    def write_later(self, write: WriteStep, what: Any, at: int) -> None:
        """Let a stage wait until the record is read.

        :param write: writes the stage into the record.
        :param what: the data of the stage, for ``write``.
        :param at: the time of the stage in epoch ms.
        """
        self.unwritten.append((write, what, at))
        if len(self.unwritten) > _MOST_UNWRITTEN:
            self._write()

    def _write(self) -> None:
        unwritten, self.unwritten = self.unwritten, []
        for write, what, at in unwritten:
            write(self, what, at)

    def _begin(self) -> RequestRecord:
        return RequestRecord(
            id=self.id,
            timestamp=self.timestamp,
            client_id=self.client_id,
            request=self.request,
            outcome=RequestOutcome("pending"),
            action="pending",
            events=[],
        )

    @property
    def method(self) -> str:
        """The HTTP method as the application sent it."""
        return self.request.method

    @property
    def status(self) -> int | None:
        """The status of the response; ``None`` without a response."""
        response = self.record.outcome.response
        return None if response is UNSET else response.status

    def bodies(self) -> list[Body]:
        """Return the bodies in the order of the JSON."""
        found = (self.request_body, self.response_body, self.overrides_body)
        return [body for body in found if body is not None]

    def parts(self) -> Iterable[object]:
        """Return the bodies that count in the byte budget; ``None`` for an absent body."""
        return self.request_body, self.response_body, self.overrides_body

    def cut(self, part: object) -> None:
        """Drop the body ``part``, and mark the JSON as truncated."""
        if isinstance(part, Body):
            part.drop()
            self.changed()

    def log(self, event_id: str, at: int, kind: str, detail: str = "") -> None:
        """Append an event to the timeline; beyond :data:`MAX_EVENTS` it replaces the last one."""
        event = HttpEvent(event_id, at, kind, detail[:MAX_DETAIL] or UNSET)
        events = self.record.events
        if len(events) - self._pieces >= MAX_EVENTS:
            others = (place for place, each in enumerate(events) if each.kind != PIECE)
            del events[max(others)]
        events.append(event)

    def log_piece(self, event_id: str, at: int, size: int) -> int:
        """Append a piece of the answer to the timeline; beyond :data:`MAX_PIECES` to the last one.

        :param size: its bytes.
        :returns: the characters that the entry has gained.
        """
        events = self.record.events
        if self._pieces < MAX_PIECES:
            events.append(HttpEvent(event_id, at, PIECE, f"{size} bytes", size))
            self._pieces += 1
            return _PIECE_WEIGHT
        last = next(event for event in reversed(events) if event.kind == PIECE)
        last.size = size + (last.size or 0)
        last.detail = f"{last.size} bytes, in several pieces"
        return 0

    def settle(self, action: str, outcome: RequestOutcome, owner: Owner | None, at: int) -> None:
        """Write the decision, its owner and the duration into the record.

        :param at: the time of the decision in epoch ms.
        """
        self.action = self.record.action = action
        self.record.outcome = outcome
        self.own(owner)
        if owner is not None and owner.is_shared:
            # Shared routes serve what belongs to no test.
            self.record.lost, self.record.shared = UNSET, True
        self.time(at)

    def time(self, at: int) -> None:
        """Write the duration into the record: 0 if the clock was set back.

        :param at: the end, in epoch ms.
        """
        self.record.duration_ms = max(0, at - self.record.timestamp)

    def receive(self, request: SerializedRequest) -> None:
        """Add the body of a request that arrived without it."""
        self.request, self.request_body = without_body(request)
        self.record.request = self.request

    def begin_answer(self, response: SerializedResponse) -> int:
        """Set the head of a response whose body is still arriving.

        :returns: as :meth:`answer`.
        """
        return self._answer(response, BODY_HERE, awaited())

    def answer(self, response: SerializedResponse) -> int:
        """Set the response, in place of an earlier one; head and body are kept apart.

        :returns: the characters that the head of the entry has gained.
        """
        kept = keep(response.body_base64, response.truncated, response.body_size)
        return self._answer(response, *kept)

    def write_response(self) -> None:
        """Write the head of the latest response into the record's outcome."""
        self.record.outcome.response = self._response

    @property
    def body_arrives(self) -> bool:
        """Whether the head of the response has arrived and its body has not."""
        return self.response_body is not None and self.response_body.state == "pending"

    def break_off(self) -> bool:
        """Mark the body of a response that broke off as truncated.

        :returns: ``False`` if no body was arriving.
        """
        if self.response_body is None or not self.body_arrives:
            return False
        self.response_body.drop()
        return True

    def _answer(self, response: SerializedResponse, raw: MessageBody, body: Body | None) -> int:
        self.response_body = body
        if self._record is not None:
            # The new response waits as a stage; meanwhile the record must not keep the old head.
            self._record.outcome.response = UNSET
        self._response = SerializedResponse(
            response.status,
            response.status_text,
            response.headers,
            raw,
            response.url,
            response.headers_list,
            trailers=response.trailers,
        )
        weight = _weigh_response(response)
        grown, self._response_weight = weight - self._response_weight, weight
        return grown

    def override(self, overrides: SerializedOverrides) -> int:
        """Write the overrides of ``continue`` into the record, unless they are empty.

        :returns: the characters that the head of the entry has gained.
        """
        raw, self.overrides_body = keep(overrides.body_base64)
        kept = SerializedOverrides(
            overrides.url, overrides.method, overrides.headers, raw, overrides.headers_list
        )
        if kept == SerializedOverrides():
            return 0
        self.record.overrides = kept
        line = len(overrides.method or "") + len(overrides.url or "")
        return line + header_weight(overrides.headers or {}, overrides.headers_list)

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the short texts that a search reads, with the scores of protocol 3."""
        record, outcome = self.record, self.record.outcome
        response = outcome.response
        yield 100, record.request.url
        yield (
            70,
            lines(
                record.request.method,
                record.action,
                record.title,
                record.path,
                record.test_id,
                outcome.kind,
                outcome.code,
                outcome.error_code,
                outcome.message,
                UNSET if response is UNSET else str(response.status),
                claimants(outcome.matches),
            ),
        )
        yield 40, header_lines(record.request.headers, record.request.headers_list)
        if response is not UNSET:
            yield 40, header_lines(response.headers, response.headers_list)

    def deep_texts(self, overlap: int) -> Iterator[str]:
        """Yield the texts with score 20, case-folded; see :meth:`.HistoryEntry.deep_texts`."""
        yield "\n".join(lines(event.kind, event.detail) for event in self.record.events).casefold()
        overrides = self.record.overrides
        if overrides is not UNSET:
            headers = header_lines(overrides.headers or {}, overrides.headers_list)
            yield lines(overrides.url, overrides.method, headers).casefold()
        for body in self.bodies():
            if body.is_kept:
                yield from folded_windows(body.kept, overlap)

    def _build(self) -> Iterator[bytes]:
        bodies = self.bodies()
        chunks = encode_around(self.record, [(body.text(), body.mark) for body in bodies])
        shared = sum(len(body.stored) for body in bodies if body.is_text)
        if sum(map(len, chunks)) - shared <= CACHED_JSON:
            self._chunks = chunks
        return iter(chunks)

    def _build_summary(self) -> bytes:
        summary = summarise(self.record, self._size(), body_arrives=self.body_arrives)
        return encode(summary)

    def _size(self) -> int | UnsetType:
        """Return the size of the response's body in bytes, ``UNSET`` if it is unknown."""
        if self.response_body is None:
            return 0
        size = self.response_body.size
        return UNSET if size < 0 else size


def announced(head: SerializedRequest) -> tuple[SerializedRequest, Body]:
    """Return the head of a request whose body has not arrived, and the placeholder of the body."""
    return structs.replace(head, body_base64=BODY_HERE), awaited()


def _weigh_response(response: SerializedResponse) -> int:
    line = len(response.status_text) + len(response.url or "")
    trailers = header_weight({}, response.trailers)
    return line + header_weight(response.headers, response.headers_list) + trailers
