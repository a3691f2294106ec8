"""Writes spans as messages of OTLP (``opentelemetry.proto.trace.v1``).

The names of the attributes are those of OpenTelemetry's stable semantic conventions for HTTP, and
of their group ``test``; what they do not have begins with ``trafficmock.``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from attrs import define, field
from msgspec import UNSET

from trafficmock.http.hosts import DEFAULT_PORTS
from trafficmock.telemetry.otlp.protobuf import attribute, fixed64, number, of_length, text, varint
from trafficmock.telemetry.trace_parent import TraceParent

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.records import CarriedContext, Owner
    from trafficmock.telemetry.finished_span import SpanEvent, TestSpan, TrafficSpan
    from trafficmock.wire.payloads.serialized_matcher import ShownRoute

KNOWN_METHODS = frozenset(
    "CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE QUERY".split()  # noqa: SIM905 - a line
)
"""The methods of ``http.request.method``; others are ``_OTHER`` (semantic conventions)."""

K = TypeVar("K")

_times = struct.Struct("<BQBQ").pack
"""Start and end, each with the tag of its field."""
_seconds = struct.Struct("<d").pack
_DURATION = attribute(9, "trafficmock.decision.duration", 0.0)[:-8]
"""The attribute without its value, which is as long for each number."""

_INTERNAL, _CLIENT = number(6, 1), number(6, 3)
_ERROR = 2
_ATTRIBUTE, _EVENT, _STATUS = 9, 11, 15
_MOST_CACHED = 2000
_FIRST_ERROR = 400


class _TextHeads(dict[int, bytes]):
    """What stands before the text of an attribute, by the bytes of the text."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __missing__(self, size: int) -> bytes:
        made = attribute(_ATTRIBUTE, self._key, "x" * size)[: -size or None]
        if len(self) < _MOST_CACHED:
            self[size] = made
        return made


@define(eq=False)
class SpanWriter:
    """Writes spans, with a cache of what many spans have in common.

    :param new_id: returns that many random bytes.
    :param redact_url: returns a URL without its secrets.
    :param redact_text: does the same with the text of an error.
    :param longest: the most characters of a text, ``None`` for any number
        (``OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT``).
    :param test_span: returns the span of a test, by its id.
    """

    new_id: Callable[[int], bytes]
    test_span: Callable[[str], TraceParent | None]
    redact_url: Callable[[str], str]
    redact_text: Callable[[str], str]
    longest: int | None = None
    _url_heads: _TextHeads = field(factory=lambda: _TextHeads("url.full"))
    _id_heads: _TextHeads = field(factory=lambda: _TextHeads("trafficmock.request.id"))
    _heads: dict[str, bytes] = field(factory=dict, repr=False)
    _origins: dict[str, bytes] = field(factory=dict, repr=False)
    _clients: dict[str, bytes] = field(factory=dict, repr=False)
    _routes: dict[str, bytes] = field(factory=dict, repr=False)
    _tests: dict[str, bytes] = field(factory=dict, repr=False)
    _ends: dict[tuple[str, int, str], bytes] = field(factory=dict, repr=False)

    def traffic(self, span: TrafficSpan) -> bytes:
        """Return the message of a request or a WebSocket."""
        owner, carried = span.owner, span.carried
        test = carried or owner
        parent = span.parent
        if parent is None or carried is not None:
            parent = self._in_trace_of_test(parent, test)
        url = span.url
        slash = url.find("/", 8)
        origin = url if slash < 0 else url[:slash]
        end = span.decision, span.status, span.error_type
        shown = self._cut(self.redact_url(url)).encode(errors="replace")
        request_id = self._cut(span.id).encode(errors="replace")
        parts = [
            self._ids(parent),
            self._heads.get(span.method) or self._head(span.method),
            _times(0x39, span.start, 0x41, max(span.end, span.start)),
            self._origins.get(origin) or self._origin(origin),
            self._clients.get(span.client_id) or self._client(span.client_id),
            self._ends.get(end) or self._end(*end),
            self._url_heads[len(shown)],
            shown,
            self._id_heads[len(request_id)],
            request_id,
        ]
        if owner is not None:
            parts.append(self._routes.get(owner.route_id) or self._route(owner))
        if test is not None:
            parts.append(self._tests.get(test.test_id) or self._test(test))
            if carried is not None and carried.late:
                parts.append(attribute(_ATTRIBUTE, "trafficmock.test.late", value=True))
        if span.decided_at:
            parts.append(_DURATION + _seconds(max(0, span.decided_at - span.start) / 1e9))
        if span.is_socket or span.resends or span.error_type or span.events:
            parts += self._rare(span)
        return b"".join(parts)

    def _rare(self, span: TrafficSpan) -> list[bytes]:
        parts = []
        if span.is_socket:
            parts.append(attribute(_ATTRIBUTE, "network.protocol.name", "websocket"))
        if span.resends:
            parts.append(attribute(_ATTRIBUTE, "http.request.resend_count", span.resends))
        if span.error:
            error = self._cut(self.redact_text(span.error))
            parts.append(attribute(_ATTRIBUTE, "trafficmock.error", error))
            parts.append(of_length(_STATUS, text(2, error) + number(3, _ERROR)))
        elif span.error_type:
            parts.append(of_length(_STATUS, number(3, _ERROR)))
        parts += map(_event, span.events or ())
        if span.dropped_events:
            parts.append(number(12, span.dropped_events))
        return parts

    def test(self, span: TestSpan) -> bytes:
        """Return the message of a test."""
        parts = [
            of_length(1, span.trace_id),
            of_length(2, span.span_id),
            text(5, self._cut(span.title) or "test"),
            _INTERNAL,
            fixed64(7, span.start),
            fixed64(8, max(span.end, span.start)),
            self._test(span),
        ]
        if span.passed is not None:
            result = "pass" if span.passed else "fail"
            parts.append(attribute(_ATTRIBUTE, "test.case.result.status", result))
        if span.passed is False:
            parts.append(of_length(_STATUS, number(3, _ERROR)))
        return b"".join(parts)

    def _in_trace_of_test(
        self, parent: TraceParent | None, test: CarriedContext | Owner | None
    ) -> TraceParent | None:
        """Return the parent of a request that names none, or that carries the context of a test.

        Agents and the forward proxy put an alias in the place of a context before they tell of a
        request, also where it is the id of a trace: the context is known by its test alone.
        """
        of_test = None if test is None else self.test_span(test.test_id)
        if of_test is None or parent is None:
            return of_test or parent
        return TraceParent(of_test.trace_id, parent.span_id)

    def _ids(self, parent: TraceParent | None) -> bytes:
        if parent is None:
            both = self.new_id(24)
            return b"\x0a\x10%b\x12\x08%b" % (both[:16], both[16:])
        ids = parent.trace_id, self.new_id(8), parent.span_id
        return b"\x0a\x10%b\x12\x08%b\x22\x08%b" % ids

    def _head(self, method: str) -> bytes:
        known = method if method in KNOWN_METHODS else "_OTHER"
        made = text(5, known if known == method else "HTTP") + _CLIENT
        made += attribute(_ATTRIBUTE, "http.request.method", known)
        if known != method:
            made += self._attribute("http.request.method_original", method)
        return _cached(self._heads, method, made)

    def _origin(self, origin: str) -> bytes:
        host, port = server_of(origin)
        made = self._attribute("server.address", host) if host else b""
        if port:
            made += attribute(_ATTRIBUTE, "server.port", port)
        return _cached(self._origins, origin, made)

    def _client(self, client_id: str) -> bytes:
        made = self._attribute("trafficmock.client.id", client_id)
        return _cached(self._clients, client_id, made)

    def _route(self, owner: Owner) -> bytes:
        made = self._attribute("trafficmock.route.id", owner.route_id)
        if owner.route is not None:
            made += self._attribute("trafficmock.route", shown_matcher(owner.route))
            if owner.route.place is not UNSET:
                made += self._attribute("trafficmock.route.place", owner.route.place)
        return _cached(self._routes, owner.route_id, made)

    def _test(self, test: CarriedContext | Owner | TestSpan) -> bytes:
        made = self._attribute("trafficmock.test.id", test.test_id)
        made += self._attribute("test.case.name", test.title)
        if test.file:
            made += self._attribute("test.suite.name", test.file)
        return _cached(self._tests, test.test_id, made)

    def _end(self, decision: str, status: int, error_type: str) -> bytes:
        made = attribute(_ATTRIBUTE, "trafficmock.decision", decision or "pending")
        if status:
            made += attribute(_ATTRIBUTE, "http.response.status_code", status)
        if error_type:
            made += self._attribute("error.type", error_type)
        return _cached(self._ends, (decision, status, error_type), made)

    def _attribute(self, key: str, value: str) -> bytes:
        return attribute(_ATTRIBUTE, key, self._cut(value))

    def _cut(self, value: str) -> str:
        return value if self.longest is None else value[: self.longest]


def _cached(cache: dict[K, bytes], key: K, made: bytes) -> bytes:
    """Keep what was made; a full cache begins anew, since clients choose the keys."""
    if len(cache) >= _MOST_CACHED:
        cache.clear()
    cache[key] = made
    return made


def _event(event: SpanEvent) -> bytes:
    made = fixed64(1, event.at) + text(2, event.name)
    if event.direction:
        made += attribute(3, "trafficmock.direction", event.direction)
    return of_length(_EVENT, made + attribute(3, "trafficmock.size", event.size))


def server_of(origin: str) -> tuple[str, int]:
    """Return host and port of a URL; an empty text and 0 if it has none."""
    try:
        parts = urlsplit(origin)
        return parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0


def shown_matcher(route: ShownRoute) -> str:
    """Return what a route matches, in one line."""
    matcher = route.matcher
    if matcher.url_glob is not UNSET:
        return matcher.url_glob
    if matcher.url_regex is not UNSET:
        return f"/{matcher.url_regex.source}/{matcher.url_regex.flags}"
    return "a predicate" if matcher.predicate is True else "**"


def failed_status(status: int) -> str:
    """Return ``error.type`` of a response: the status from 400 on (semantic conventions)."""
    return str(status) if status >= _FIRST_ERROR else ""


def scope_spans(messages: list[bytes], resource: bytes, scope: bytes) -> bytes:
    """Return an ``ExportTraceServiceRequest`` with these spans.

    :param resource: the message ``Resource``.
    :param scope: the message ``InstrumentationScope``.
    """
    spans = b"".join([b"".join((b"\x12", varint(len(each)), each)) for each in messages])
    inner = of_length(2, of_length(1, scope) + spans)
    return of_length(1, of_length(1, resource) + inner)
