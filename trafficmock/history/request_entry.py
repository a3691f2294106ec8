"""The entry of an HTTP request."""

from collections.abc import Iterable, Iterator

from msgspec import UNSET, Raw, UnsetType, structs

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

MAX_EVENTS = 100
"""Events kept of one request, so that an agent that repeats itself cannot fill the memory."""


class RequestEntry(HistoryEntry[RequestRecord], kw_only=True):
    """One HTTP request. The record says where bodies go, the bodies stand here."""

    request_body: Body | None = None
    response_body: Body | None = None
    overrides_body: Body | None = None

    @property
    def action(self) -> str:
        """What was done; for a WebSocket its outcome."""
        return self.record.action

    @property
    def method(self) -> str:
        """The HTTP method as the application sent it."""
        return self.record.request.method

    @property
    def status(self) -> int | None:
        """The status of the response; ``None`` while, or when, there is none."""
        response = self.record.outcome.response
        return None if response is UNSET else response.status

    @property
    def request(self) -> SerializedRequest:
        """The request as the application sent it, without its body."""
        return self.record.request

    def bodies(self) -> list[Body]:
        """List the bodies in the order of the JSON."""
        found = (self.request_body, self.response_body, self.overrides_body)
        return [body for body in found if body is not None]

    def parts(self) -> Iterable[tuple[object, int]]:
        """List what the byte budget may hold of it, with the bytes of each."""
        every = (self.request_body, self.response_body, self.overrides_body)
        return [(body, len(body.text)) for body in every if body is not None and body.is_kept]

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
        self.record.action = action
        self.record.outcome = outcome
        self.own(owner)
        self.time(at)

    def time(self, at: int) -> None:
        """Write down how long it has taken; a clock that was set back makes it 0."""
        self.record.duration_ms = max(0, at - self.record.timestamp)

    def receive(self, request: SerializedRequest) -> None:
        """Attach the body that the request was seen without."""
        self.record.request, self.request_body = without_body(request)

    def begin_answer(self, response: SerializedResponse) -> int:
        """Attach a response whose body goes on.

        :returns: by how many characters the head of the entry has grown.
        """
        return self._answer(response, BODY_HERE, awaited())

    def answer(self, response: SerializedResponse) -> int:
        """Attach a response to the outcome.

        :returns: by how many characters the head of the entry has grown.
        """
        return self._answer(response, *keep_of(response))

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
        earlier = self.record.outcome.response
        self.response_body = body
        self.record.outcome.response = SerializedResponse(
            response.status,
            response.status_text,
            response.headers,
            raw,
            response.url,
            response.headers_list,
        )
        return _weigh_response(response) - (0 if earlier is UNSET else _weigh_response(earlier))

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
        return len(overrides.url or "") + header_weight(
            overrides.headers or {}, overrides.headers_list
        )

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


def announced(request: SerializedRequest) -> tuple[SerializedRequest, Body]:
    """Take a request whose body has not arrived."""
    head, _ = without_body(request)
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
    return len(request.url) + header_weight(request.headers, request.headers_list)


def _weigh_response(response: SerializedResponse) -> int:
    return len(response.status_text) + header_weight(response.headers, response.headers_list)
