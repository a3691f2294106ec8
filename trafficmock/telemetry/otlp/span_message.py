"""Writes spans as messages of OTLP (``opentelemetry.proto.trace.v1``).

The names of the attributes are those of OpenTelemetry's stable semantic conventions for HTTP, and
of their group ``test``; what they do not have begins with ``trafficmock.``.
"""

from __future__ import annotations

import struct
from itertools import chain, repeat
from operator import lt
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from attrs import define, field
from msgspec import UNSET

from trafficmock.http.hosts import DEFAULT_PORTS
from trafficmock.telemetry.finished_span import TestSpan, TrafficSpan
from trafficmock.telemetry.otlp.protobuf import (
    attribute,
    fixed64,
    length_head,
    number,
    of_length,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trafficmock.records import CarriedContext, Owner
    from trafficmock.telemetry.finished_span import SpanEvent
    from trafficmock.telemetry.trace_parent import TraceParent
    from trafficmock.wire.payloads.serialized_matcher import ShownRoute

KNOWN_METHODS = frozenset(
    "CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE QUERY".split()  # noqa: SIM905 - a line
)
"""The methods of ``http.request.method``; others are ``_OTHER`` (semantic conventions)."""

K = TypeVar("K")

_DURATION = attribute(9, "trafficmock.decision.duration", 0.0)[:-8]
"""The attribute without its value, which is as long for each number."""
_START, _END = b"\x39", b"\x41"
"""The tags of the fields with the times."""
_PARENT, _TRACE, _ID = b"\x22\x08", b"\x0a\x10", b"\x12\x08"
"""What stands before the ids of the parent, the trace and the span."""

_INTERNAL, _CLIENT = number(6, 1), number(6, 3)
_ERROR = 2
_ATTRIBUTE, _EVENT, _STATUS = 9, 11, 15
_MOST_CACHED = 2000
FIRST_ERROR = 400
"""The first status that is an error of a client (semantic conventions)."""

_Common = tuple[str, str, str, str, int, str]
"""Client, origin, method, decision, status and type of the error of a span."""


_Owned = tuple[str | None, str | None]
"""The ids of the route and the test of a span."""


class _Heads(dict[int, bytes]):
    """What stands before a text or a message, by its bytes.

    :param make: returns a field with a text of the given number of bytes.
    """

    def __init__(self, make: Callable[[int], bytes]) -> None:
        self._make = make

    def __missing__(self, size: int) -> bytes:
        made = self._make(size)[: -size or None]
        if len(self) < _MOST_CACHED:
            self[size] = made
        return made


def _text_heads(key: str) -> _Heads:
    return _Heads(lambda size: attribute(_ATTRIBUTE, key, "x" * size))


class _TestTraces(dict[str, bytes]):
    """What stands before the id of a span in the trace of a test, by the id of the test.

    It is empty for a test without a span.

    :param find: returns the span of a test.
    """

    def __init__(self, find: Callable[[str], TraceParent | None]) -> None:
        self._find = find

    def __missing__(self, test_id: str) -> bytes:
        found = self._find(test_id)
        made = b"" if found is None else _PARENT + found.span_id + _TRACE + found.trace_id + _ID
        self[test_id] = made
        return made


@define(eq=False)
class SpanWriter:
    """Writes spans, with a cache of what many spans have in common.

    :param new_id: returns that many random bytes.
    :param test_span: returns the span of a test, by its id.
    :param redact_urls: returns URLs without their secrets.
    :param redact_text: does the same with the text of an error.
    :param longest: the most characters of a text, ``None`` for any number
        (``OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT``).
    """

    new_id: Callable[[int], bytes]
    test_span: Callable[[str], TraceParent | None]
    redact_urls: Callable[[Sequence[str]], Sequence[str]]
    redact_text: Callable[[str], str]
    longest: int | None = None
    _url_heads: _Heads = field(factory=lambda: _text_heads("url.full"))
    _id_heads: _Heads = field(factory=lambda: _text_heads("trafficmock.request.id"))
    _span_heads: _Heads = field(factory=lambda: _Heads(lambda size: of_length(2, bytes(size))))
    _commons: dict[_Common, bytes] = field(factory=dict, repr=False)
    _owners: dict[_Owned, bytes] = field(factory=dict, repr=False)

    def fields(self, spans: Sequence[TrafficSpan | TestSpan]) -> bytes:
        """Return the field ``spans`` of the message ``ScopeSpans``, once for each span."""
        tests = [each for each in spans if type(each) is TestSpan]
        messages = self._traffic([each for each in spans if type(each) is TrafficSpan])
        messages += map(self._test_span, tests)
        heads = self._span_heads
        pairs = zip([heads[len(each)] for each in messages], messages, strict=True)
        return b"".join(chain.from_iterable(pairs))

    def _traffic(self, spans: Sequence[TrafficSpan]) -> list[bytes]:
        """Return the messages of requests and WebSockets.

        Most of what the export costs is here. So the parts are made one after the other, each for
        all spans, with as little as possible of Python for a single span.
        """
        begun = [span.begun for span in spans]
        urls = self._texts(self.redact_urls([each.url for each in begun]))
        ids = self._texts([each.id for each in begun])
        url_heads, id_heads = self._url_heads, self._id_heads
        parts = zip(
            *self._ids(spans),
            *self._times(spans, [each.at for each in begun]),
            [url_heads[len(each)] for each in urls],
            urls,
            [id_heads[len(each)] for each in ids],
            ids,
            self._attributes(spans),
            strict=True,
        )
        return list(map(b"".join, parts))

    def _texts(self, texts: Sequence[str]) -> list[bytes]:
        if self.longest is not None:
            texts = [each[: self.longest] for each in texts]
        try:
            return list(map(str.encode, texts))
        except UnicodeEncodeError:
            return [each.encode(errors="replace") for each in texts]

    def _ids(self, spans: Sequence[TrafficSpan]) -> tuple[list[bytes], tuple[bytes, ...]]:
        """Return the fields with the trace and the parent of each span, and with its own id."""
        tests, traces = _TestTraces(self.test_span), []
        for span in spans:
            begun = span.begun
            carried, parent = begun.carried, begun.parent
            test = carried or span.owner
            trace = b"" if test is None else tests[test.test_id]
            if parent is not None:
                trace = self._trace_of(parent, b"" if carried is None else trace)
            traces.append(trace or _TRACE + self.new_id(16) + _ID)
        ids = self.new_id(8 * len(spans))
        return traces, _eights(ids)

    def _trace_of(self, parent: TraceParent, trace: bytes) -> bytes:
        """Return the trace and the parent of a request whose header names a parent.

        Agents and the forward proxy put an alias in the place of a context before they tell of a
        request, also where it is the id of a trace: the context is known by its test alone.

        :param trace: those of the test whose context the request carries; empty without one.
        """
        trace_id = trace[len(_PARENT) + 8 + len(_TRACE) :][:16] or parent.trace_id
        return _PARENT + parent.span_id + _TRACE + trace_id + _ID

    def _times(
        self, spans: Sequence[TrafficSpan], starts: list[int]
    ) -> tuple[Iterable[bytes], ...]:
        """Return the fields with start, end and time of the decision of each span."""
        count = len(spans)
        ends, took = [span.end for span in spans], [span.took for span in spans]
        if any(map(lt, ends, starts)) or any(map(lt, took, repeat(0))):  # the clock was set back
            ends, took = list(map(max, ends, starts)), [max(each, 0) for each in took]
        seconds = _eights(struct.pack(f"<{count}d", *[each / 1e9 for each in took]))
        return (
            repeat(_START, count),
            _eights(struct.pack(f"<{count}Q", *starts)),
            repeat(_END, count),
            _eights(struct.pack(f"<{count}Q", *ends)),
            [
                _DURATION + each if span.decision else b""
                for span, each in zip(spans, seconds, strict=True)
            ],
        )

    def _attributes(self, spans: Sequence[TrafficSpan]) -> list[bytes]:
        """Return the attributes of each span that others have, too, and those that few have."""
        commons, owners, made = self._commons, self._owners, []
        for span in spans:
            begun, owner = span.begun, span.owner
            carried = begun.carried
            test = carried or owner
            common = (
                begun.client_id,
                begun.origin,
                begun.method,
                span.decision,
                span.status,
                span.error_type,
            )
            owned = (
                None if owner is None else owner.route_id,
                None if test is None else test.test_id,
            )
            made.append(
                (commons.get(common) or self._common(common))
                + (owners.get(owned) or self._owned(owned, owner, test))
            )
            if (
                span.error_type
                or span.events
                or begun.resends
                or begun.is_socket
                or (carried is not None and carried.late)
            ):
                made[-1] += self._rare(span)
        return made

    def _rare(self, span: TrafficSpan) -> bytes:
        """Return what few spans have."""
        parts, begun = [], span.begun
        if begun.carried is not None and begun.carried.late:
            parts.append(attribute(_ATTRIBUTE, "trafficmock.test.late", value=True))
        if begun.is_socket:
            parts.append(attribute(_ATTRIBUTE, "network.protocol.name", "websocket"))
        if begun.resends:
            parts.append(attribute(_ATTRIBUTE, "http.request.resend_count", begun.resends))
        if span.error:
            error = self._cut(self.redact_text(span.error))
            parts.append(attribute(_ATTRIBUTE, "trafficmock.error", error))
            parts.append(of_length(_STATUS, text(2, error) + number(3, _ERROR)))
        elif span.error_type:
            parts.append(of_length(_STATUS, number(3, _ERROR)))
        parts += map(_event, span.events or ())
        if span.dropped_events:
            parts.append(number(12, span.dropped_events))
        return b"".join(parts)

    def _test_span(self, span: TestSpan) -> bytes:
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

    def _common(self, common: _Common) -> bytes:
        """Return the name, the kind and the attributes that many spans have in common."""
        client_id, origin, method, decision, status, error_type = common
        known = method if method in KNOWN_METHODS else "_OTHER"
        made = text(5, known if known == method else "HTTP") + _CLIENT
        made += attribute(_ATTRIBUTE, "http.request.method", known)
        if known != method:
            made += self._attribute("http.request.method_original", method)
        host, port = server_of(origin)
        if host:
            made += self._attribute("server.address", host)
        if port:
            made += attribute(_ATTRIBUTE, "server.port", port)
        made += self._attribute("trafficmock.client.id", client_id)
        made += attribute(_ATTRIBUTE, "trafficmock.decision", decision or "pending")
        if status:
            made += attribute(_ATTRIBUTE, "http.response.status_code", status)
        if error_type:
            made += self._attribute("error.type", error_type)
        return _cached(self._commons, common, made)

    def _owned(
        self, key: _Owned, owner: Owner | None, test: CarriedContext | Owner | None
    ) -> bytes:
        """Return the attributes of the route and the test of a span, which may have none."""
        made = b"" if owner is None else self._route(owner)
        if test is not None:
            made += self._test(test)
        return _cached(self._owners, key, made) if made else made

    def _route(self, owner: Owner) -> bytes:
        made = self._attribute("trafficmock.route.id", owner.route_id)
        if owner.route is not None:
            made += self._attribute("trafficmock.route", shown_matcher(owner.route))
            if owner.route.place is not UNSET:
                made += self._attribute("trafficmock.route.place", owner.route.place)
        return made

    def _test(self, test: CarriedContext | Owner | TestSpan) -> bytes:
        made = self._attribute("trafficmock.test.id", test.test_id)
        made += self._attribute("test.case.name", test.title)
        if test.file:
            made += self._attribute("test.suite.name", test.file)
        return made

    def _attribute(self, key: str, value: str) -> bytes:
        return attribute(_ATTRIBUTE, key, self._cut(value))

    def _cut(self, value: str) -> str:
        return value[: self.longest]


def _eights(content: bytes) -> tuple[bytes, ...]:
    """Divide bytes into pieces of eight."""
    return struct.unpack("8s" * (len(content) // 8), content)


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


def scope_spans(spans: Sequence[bytes], resource: bytes, scope: bytes) -> bytes:
    """Return an ``ExportTraceServiceRequest``.

    A batch may have megabytes. They are copied once, not once for each message around them.

    :param spans: what calls of :meth:`SpanWriter.fields` returned.
    :param resource: the message ``Resource``.
    :param scope: the message ``InstrumentationScope``.
    """
    of_scope, of_resource = of_length(1, scope), of_length(1, resource)
    inner_size = len(of_scope) + sum(map(len, spans))
    inner = length_head(2, inner_size)
    outer = length_head(1, len(of_resource) + len(inner) + inner_size)
    return b"".join((outer, of_resource, inner, of_scope, *spans))
