"""The entry of an HTTP request."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import UNSET, Raw, UnsetType, field, structs

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
from trafficmock.history.search import claimants, header_lines, header_weight, lines
from trafficmock.history.stored_bodies import Body, awaited, folded_windows, keep, keep_of
from trafficmock.records import Owner
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_MOST_UNWRITTEN = 4
"""Stages that wait; more have few requests, and an agent that repeats itself."""

MAX_EVENTS = 100
"""Events kept of one request, so that an agent that repeats itself cannot fill the memory."""


Stage = Callable[["RequestEntry", Any, int], None]
"""Writes one stage of a request into its record: what happened, and when."""


class RequestEntry(HistoryEntry[RequestRecord], kw_only=True):
    """One HTTP request. The record says where bodies go, the bodies stand here.

    Most entries go before anybody reads them, and writing a record costs several times what
    keeping an entry costs. So the stages of a request wait until somebody looks at the record.
    The head of the response does not wait with them: the entry has only the latest, which is the
    one that counts in its weight.

    :param request: as the application sent it, without its body.
    :param action: what was done.
    """

    request: SerializedRequest
    action: str = "pending"
    request_body: Body | None = None
    response_body: Body | None = None
    overrides_body: Body | None = None
    _unwritten: list[tuple[Stage, Any, int]] = field(default_factory=list)
    _record: RequestRecord | None = None
    _response: SerializedResponse | UnsetType = UNSET
    _response_weight: int = 0

    @property
    def record(self) -> RequestRecord:
        """The JSON to be, written as far as the request has come."""
        if self._unwritten:
            self._write()
        if self._record is None:
            self._record = self._begin()
        return self._record

    def write_later(self, write: Stage, what: Any, at: int) -> None:
        """Have a stage written into the record when somebody looks at it.

        :param what: what happened.
        :param at: when, in epoch ms.
        """
        self._unwritten.append((write, what, at))
        if len(self._unwritten) > _MOST_UNWRITTEN:
            self._write()

    def _write(self) -> None:
        unwritten, self._unwritten = self._unwritten, []
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
        """The status of the response; ``None`` while, or when, there is none."""
        response = self.record.outcome.response
        return None if response is UNSET else response.status

    def bodies(self) -> list[Body]:
        """List the bodies in the order of the JSON."""
        found = (self.request_body, self.response_body, self.overrides_body)
        return [body for body in found if body is not None]

    def parts(self) -> Iterable[object]:
        """List the bodies that count in the byte budget; ``None`` is a body that is not there."""
        return self.request_body, self.response_body, self.overrides_body

    def cut(self, part: object) -> None:
        """Drop ``part`` and say so in the JSON."""
        if isinstance(part, Body):
            part.drop()
            self.changed()

    def log(self, event_id: str, at: int, kind: str, detail: str = "") -> None:
        """Append to the timeline; when it is full, the newest replaces the last."""
        event = HttpEvent(event_id, at, kind, detail[:MAX_DETAIL] or UNSET)
        events = self.record.events
        if len(events) < MAX_EVENTS:
            events.append(event)
        else:
            events[-1] = event

    def settle(self, action: str, outcome: RequestOutcome, owner: Owner | None, at: int) -> None:
        """Write down what was decided, by whom, and how long that took."""
        self.action = self.record.action = action
        self.record.outcome = outcome
        self.own(owner)
        self.time(at)

    def time(self, at: int) -> None:
        """Write down how long it has taken; a clock that was set back makes it 0."""
        self.record.duration_ms = max(0, at - self.record.timestamp)

    def receive(self, request: SerializedRequest) -> None:
        """Attach the body that the request was seen without."""
        self.request, self.request_body = without_body(request)
        self.record.request = self.request

    def begin_answer(self, response: SerializedResponse) -> int:
        """Take a response whose body goes on; returns as :meth:`answer` does."""
        return self._answer(response, BODY_HERE, awaited())

    def answer(self, response: SerializedResponse) -> int:
        """Take a response, in place of an earlier one, its head and its body apart.

        :returns: by how many characters the head of the entry has grown.
        """
        return self._answer(response, *keep_of(response))

    def write_response(self) -> None:
        """Write the head of the latest response into the outcome."""
        self.record.outcome.response = self._response

    @property
    def body_arrives(self) -> bool:
        """Whether the head of the response is there and its body goes on."""
        return self.response_body is not None and self.response_body.state == "pending"

    def break_off(self) -> bool:
        """Note that a response whose body went on will not be had whole.

        :returns: whether there was one.
        """
        if self.response_body is None or not self.body_arrives:
            return False
        self.response_body.drop()
        return True

    def _answer(self, response: SerializedResponse, raw: Raw, body: Body | None) -> int:
        self.response_body = body
        if self._record is not None:
            # Its stage waits again; the earlier head must not wait with it.
            self._record.outcome.response = UNSET
        self._response = SerializedResponse(
            response.status,
            response.status_text,
            response.headers,
            raw,
            response.url,
            response.headers_list,
        )
        weight = _weigh_response(response)
        grown, self._response_weight = weight - self._response_weight, weight
        return grown

    def override(self, overrides: SerializedOverrides) -> int:
        """Write down what ``continue`` changed; when it changed nothing, nothing is.

        :returns: by how many characters the head of the entry has grown.
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
        """List the short texts that a search looks at (protocol 3 gives the scores)."""
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
        """List the texts that score 20, case-folded."""
        yield "\n".join(lines(event.kind, event.detail) for event in self.record.events).casefold()
        overrides = self.record.overrides
        if overrides is not UNSET:
            headers = header_lines(overrides.headers or {}, overrides.headers_list)
            yield lines(overrides.url, overrides.method, headers).casefold()
        for body in self.bodies():
            if body.is_kept:
                yield from folded_windows(body.text, overlap)

    def _build(self) -> Iterator[bytes]:
        bodies = [(body.text, body.mark) for body in self.bodies()]
        chunks = encode_around(self.record, bodies)
        if sum(map(len, chunks)) - sum(len(text) for text, _ in bodies) <= CACHED_JSON:
            self._chunks = chunks
        return iter(chunks)

    def _build_summary(self) -> bytes:
        return encode(summarise(self.record, self._size()))

    def _size(self) -> int | UnsetType:
        """Count the bytes of the response's body, as far as anybody knows."""
        if self.response_body is None:
            return 0
        size = self.response_body.size
        return UNSET if size < 0 else size


def announced(head: SerializedRequest) -> tuple[SerializedRequest, Body]:
    """Take the head of a request whose body has not arrived."""
    return structs.replace(head, body_base64=BODY_HERE), awaited()


def without_body(request: SerializedRequest) -> tuple[SerializedRequest, Body | None]:
    """Take the body out of a request, so that the message it came in can be freed."""
    raw, body = keep_of(request)
    head = SerializedRequest(
        request.url, request.method, request.headers, raw, request.headers_list
    )
    return head, body


def weigh(request: SerializedRequest) -> int:
    """Count the characters of a request's head."""
    line = len(request.method) + len(request.url)
    return line + header_weight(request.headers, request.headers_list)


def _weigh_response(response: SerializedResponse) -> int:
    line = len(response.status_text) + len(response.url or "")
    return line + header_weight(response.headers, response.headers_list)
