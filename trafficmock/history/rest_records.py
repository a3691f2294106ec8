"""The records of REST: msgspec Structs of the JSON of an entry, and their encoder.

A record has the placeholder :data:`BODY_HERE` in place of each body. :func:`encode_around` splits
the JSON at the placeholders, so that each body is kept once and not copied into cached JSON.
"""

import json
from typing import Any, Generic, Literal, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.json import Encoder

from trafficmock.history.traffic_counts import TestCounts, TrafficCounts
from trafficmock.records import LostContext
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic, ShownRoute
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

BODY_HERE = Raw(b"\0")
"""The placeholder of a body. JSON text cannot contain this byte: strings have it as an escape."""

MAX_CONTENT_TYPE = 200
"""The most characters of a ``content-type`` in a summary, so that lists stay small."""

Direction = Literal["client", "server", "system"]

_encoder = Encoder()

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")
ItsOutcome = TypeVar("ItsOutcome")


class HttpEvent(Struct, omit_defaults=True, gc=False):
    """An event in the timeline of a request (protocol 3).

    :param size: the bytes of a ``piece``.
    """

    id: str
    timestamp: int
    kind: str
    detail: str | UnsetType = UNSET
    size: int | UnsetType = UNSET

    __repr__ = quiet_repr


class SocketEvent(Struct, omit_defaults=True, rename="camel", eq=False, gc=False):
    """An event in the timeline of a WebSocket (protocol 3).

    A frame that the byte budget dropped has ``truncated`` in place of ``data``.
    """

    id: str
    timestamp: int
    direction: Direction
    kind: str
    detail: str | UnsetType = UNSET
    data: str | UnsetType = UNSET
    is_base64: bool | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET

    __repr__ = quiet_repr


class Outcome(Struct, Generic[ResponseT], omit_defaults=True, rename="camel"):
    """The outcome of a request (protocol 3); which other keys there are depends on ``kind``."""

    kind: str
    response: ResponseT | UnsetType = UNSET
    route_id: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    error_code: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    matches: list[RouteMatchDiagnostic] | UnsetType = UNSET

    __repr__ = quiet_repr


class RequestOutcome(Outcome[SerializedResponse]):
    """The outcome in a record, with the response."""


class RequestFacts(
    Struct, Generic[RequestT, ItsOutcome], omit_defaults=True, rename="camel", kw_only=True
):
    """The keys that the record and the summary of a request have in common (protocol 3)."""

    id: str
    timestamp: int
    client_id: str
    request: RequestT
    outcome: ItsOutcome
    action: str
    title: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    duration_ms: int | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    route_id: str | UnsetType = UNSET
    route: ShownRoute | UnsetType = UNSET
    overrides: SerializedOverrides | UnsetType = UNSET
    redirected_from_id: str | UnsetType = UNSET
    redirected_to_id: str | UnsetType = UNSET
    has_context: bool | UnsetType = UNSET
    late: bool | UnsetType = UNSET
    late_of: str | UnsetType = UNSET
    also_matched: list[str] | UnsetType = UNSET
    other_tests: int | UnsetType = UNSET
    lost: LostContext | UnsetType = UNSET
    mixed: LostContext | UnsetType = UNSET
    shared: bool | UnsetType = UNSET

    __repr__ = quiet_repr


class RequestRecord(RequestFacts[SerializedRequest, RequestOutcome], kw_only=True):
    """The record of a request; ``request`` is the request as the application sent it."""

    events: list[HttpEvent]


class RecordedClose(Struct, omit_defaults=True, rename="camel"):
    """The close of a WebSocket."""

    was_clean: bool
    code: int | UnsetType = UNSET
    reason: str | UnsetType = UNSET

    __repr__ = quiet_repr


class SocketRecord(Struct, omit_defaults=True, rename="camel"):
    """The record of a WebSocket, without its events (protocol 3)."""

    id: str
    timestamp: int
    client_id: str
    url: str
    protocols: list[str]
    outcome: str
    title: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    route_id: str | UnsetType = UNSET
    route: ShownRoute | UnsetType = UNSET
    error_code: str | UnsetType = UNSET
    error_message: str | UnsetType = UNSET
    matches: list[RouteMatchDiagnostic] | UnsetType = UNSET
    closed_at: int | UnsetType = UNSET
    close: RecordedClose | UnsetType = UNSET
    has_context: bool | UnsetType = UNSET
    late: bool | UnsetType = UNSET
    late_of: str | UnsetType = UNSET
    also_matched: list[str] | UnsetType = UNSET
    other_tests: int | UnsetType = UNSET

    __repr__ = quiet_repr


class RequestLine(Struct):
    """The request in a summary."""

    url: str
    method: str

    __repr__ = quiet_repr


class StatusLine(Struct, omit_defaults=True, rename="camel"):
    """The response in a summary.

    :param content_type: the value of the first ``content-type``, if there is one.
    :param body_size: decoded bytes of the body; unset while the body arrives, or if unknown.
    :param body_pending: the body is still arriving.
    """

    status: int
    status_text: str
    url: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    body_size: int | UnsetType = UNSET
    body_pending: bool | UnsetType = UNSET

    __repr__ = quiet_repr


class OutcomeSummary(Outcome[StatusLine]):
    """The outcome in a summary, with the status line of the response."""


class RequestSummary(RequestFacts[RequestLine, OutcomeSummary], kw_only=True):
    """A :class:`RequestRecord` without bodies, headers and events, for lists.

    :param upstream_error: the error of the upstream, from the events.
    :param handler_error: the error that the handler of a test raised, from the events.
    :param broken: why the answer broke off, from the events: the application did not get it whole.
    """

    upstream_error: str | UnsetType
    handler_error: str | UnsetType
    broken: str | UnsetType


class Totals(Struct):
    """Counts of requests, or of WebSockets.

    :param total: how many there were since the start of the service.
    :param decisions: how many of them were decided, by the action.
    :param recorded: how many entries the history has.
    :param dropped: how many entries it has dropped to stay within its limits.
    :param hosts: for each host, how many were decided, by the action.
    """

    total: int
    decisions: dict[str, int]
    recorded: int
    dropped: int
    hosts: dict[str, dict[str, int]]


class Summary(Struct, rename="camel"):
    """The counts of a service since its start.

    :param tests: those of each test, oldest first.
    :param tests_dropped: how many tests are no longer listed.
    :param unowned: those of no test.
    """

    requests: Totals
    web_sockets: Totals
    tests: list[TestCounts]
    tests_dropped: int
    unowned: TrafficCounts


_AS_THEY_ARE = set(RequestFacts.__struct_fields__) - {"request", "outcome", "overrides"}
"""The fields that a summary copies from its record."""


def encode(record: object) -> bytes:
    """Encode a record; lone surrogates become escapes, as ``JSON.stringify`` writes them."""
    try:
        return _encoder.encode(record)
    except UnicodeEncodeError:
        return _encoder.encode(_escaped(record))


def encode_around(record: object, bodies: list[tuple[bytes, bytes]]) -> tuple[bytes, ...]:
    """Encode a record with its bodies.

    :param bodies: for each :data:`BODY_HERE`, in the order of the JSON, the JSON text of the body
        and further keys to write after it.
    :returns: the JSON in chunks; the bodies among them are not copied.
    """
    first, *rest = encode(record).split(b"\0")
    chunks = [first]
    for (body, mark), text in zip(bodies, rest, strict=True):
        chunks += (body, mark + text)
    return tuple(chunks)


def summarise(
    record: RequestRecord, body_size: int | UnsetType, *, body_arrives: bool
) -> RequestSummary:
    """Make the summary of a record.

    :param body_size: decoded bytes of the response's body, ``UNSET`` if they are unknown.
    :param body_arrives: whether the response's body is still arriving.
    """
    outcome = record.outcome
    response: StatusLine | UnsetType = UNSET
    if outcome.response is not UNSET:
        answer = outcome.response
        response = StatusLine(
            answer.status,
            answer.status_text,
            answer.url,
            _content_type(answer),
            body_size,
            body_arrives or UNSET,
        )
    overrides = record.overrides
    if overrides is not UNSET:
        overrides = SerializedOverrides(url=overrides.url, method=overrides.method)
    return RequestSummary(
        request=RequestLine(record.request.url, record.request.method),
        outcome=OutcomeSummary(
            outcome.kind,
            response,
            outcome.route_id,
            outcome.test_id,
            outcome.error_code,
            outcome.message,
            outcome.code,
            outcome.matches,
        ),
        overrides=overrides,
        upstream_error=upstream_error(record.events),
        handler_error=_handler_error(record),
        broken=_broken(record.events),
        **{name: getattr(record, name) for name in _AS_THEY_ARE},
    )


def _content_type(response: SerializedResponse) -> str | UnsetType:
    for name, value in response.headers.items():
        if name.lower() == "content-type":
            return value[:MAX_CONTENT_TYPE]
    return UNSET


def upstream_error(events: list[HttpEvent]) -> str | UnsetType:
    """Return why the upstream gave no complete response; ``UNSET`` if it did not fail."""
    for event in reversed(events):
        if event.kind == "response":
            return UNSET
        if event.kind == "upstream_error":
            return event.detail or ""
    return UNSET


def _broken(events: list[HttpEvent]) -> str | UnsetType:
    return next((each.detail or "" for each in events if each.kind == "broken_off"), UNSET)


def _handler_error(record: RequestRecord) -> str | UnsetType:
    """Return the error that a handler raised, which is the detail of the abort event.

    For an abort that the handler requested, the detail is the abort code; a request that the
    application cancelled has the code ``aborted``.
    """
    code = record.outcome.error_code
    if record.action == "abort" and code != "aborted":
        for event in record.events:
            if event.kind == "abort" and event.detail not in (code, "", UNSET):
                return event.detail
    return UNSET


def _escaped(value: Any) -> Any:
    """Encode each part without a Struct by :mod:`json`, which escapes lone surrogates."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, list) and value and isinstance(value[0], Struct):
        return [_escaped(item) for item in value]
    if not isinstance(value, Struct):
        return Raw(json.dumps(value, separators=(",", ":")).encode())
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    parts = {key: getattr(value, name) for name, key in names}
    return {
        key: _escaped(part)
        for key, part in parts.items()
        if part is not UNSET and not (isinstance(part, Raw) and not bytes(part))
    }
