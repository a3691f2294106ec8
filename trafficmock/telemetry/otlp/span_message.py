"""Writes spans as messages of OTLP (``opentelemetry.proto.trace.v1``).

The names of the attributes are those of OpenTelemetry's stable semantic conventions for HTTP, and
of their group ``test``; what they do not have begins with ``trafficmock.``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat, starmap
from operator import mul
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from attrs import define, field
from msgspec import UNSET

from trafficmock.http.hosts import DEFAULT_PORTS
from trafficmock.records import CarriedContext, Owner
from trafficmock.telemetry.finished_span import Extras, SpanEvent, TestSpan, Values
from trafficmock.telemetry.otlp.protobuf import (
    attribute,
    fixed64,
    length_head,
    number,
    of_length,
    text,
)
from trafficmock.telemetry.span_queue import SpanBatch
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
_root = struct.Struct("2s16s2s")
_times = struct.Struct(f"<8scQcQ{len(_DURATION)}sd")
_PARENT, _TRACE, _ID = b"\x22\x08", b"\x0a\x10", b"\x12\x08"
"""What stands before the ids of the parent, the trace and the span."""

_INTERNAL, _CLIENT = number(6, 1), number(6, 3)
_ERROR = 2
_SPAN, _ATTRIBUTE, _EVENT, _STATUS = 2, 9, 11, 15
_MOST_CACHED = 2000
_MOST_SIZES = 8
FIRST_ERROR = 400
"""The first status that is an error of a client (semantic conventions)."""

_Common = tuple[str, str, str, str, int, str]
"""Client, origin, method, decision, status and type of the error of a span."""


_Owned = tuple[str | None, str | None]
"""The ids of the route and the test of a span."""

_Head = tuple[str, str, str, str, int, str, str | None, str | None, int, int, int]
"""What many spans have in common, and the bytes of URL, id and trace of a span."""

_DECISION: Final = 3
_ERROR_TYPE: Final = 5
"""Where these are in what spans have in common."""


@define(eq=False)
class SpanWriter:
    """Writes spans, with a cache of what many spans have in common.

    :param new_id: returns that many random bytes.
    :param test_traces: what :func:`trace_below` returned for each test, by its id.
    :param redact_urls: returns URLs without their secrets.
    :param redact_text: does the same with the text of an error.
    :param longest: the most characters of a text, ``None`` for any number
        (``OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT``).
    """

    new_id: Callable[[int], bytes]
    test_traces: Mapping[str | None, bytes] = field(repr=False)
    redact_urls: Callable[[Sequence[str]], Sequence[str]]
    redact_text: Callable[[str], str]
    longest: int | None = None
    _heads: dict[_Head, bytes] = field(factory=dict, repr=False)
    _commons: dict[_Common, bytes] = field(factory=dict, repr=False)
    _owners: dict[_Owned, bytes] = field(factory=dict, repr=False)

    def fields(self, spans: SpanBatch) -> bytes:
        """Return the field ``spans`` of the message ``ScopeSpans``, once for each span."""
        tests = (of_length(_SPAN, self._test_span(each)) for each in spans.tests)
        return self._traffic(spans.traffic) + b"".join(tests)

    def _traffic(self, spans: list[Values]) -> bytes:
        """Return the fields of requests and WebSockets.

        Most of what the export costs is here. So the parts are made one after the other, each for
        all spans, with as little as possible of Python for a single span. A span has six parts:
        a head, which is the same for spans alike, its URL, a head and its id, its trace, its times.
        """
        if not spans:
            return b""
        columns: list[Any] = list(zip(*spans, strict=True))
        clients, *alike, ids, urls, starts, ends, took, owners, carried, parents, extras = columns
        shown, names = self._texts(self.redact_urls(urls)), self._texts(ids)
        route_ids, test_ids = _ids_of(owners, carried)
        traces = self._traces(test_ids, carried, parents)
        own_ids = _pieces(8, self.new_id(8 * len(ids)))
        seconds = map(mul, took, repeat(1e-9))
        each_times = zip(
            own_ids, repeat(_START), starts, repeat(_END), ends, repeat(_DURATION), seconds
        )
        times = list(starmap(_times.pack, each_times))
        sizes = _sizes(names)
        alike = [clients, origins_of(urls), *alike, route_ids, test_ids]
        of_heads = *alike, _sizes(shown), sizes, _sizes(traces)
        # No list of the keys: so many tuples at a time would make the garbage collector run.
        heads: list[Any] = list(map(self._heads.get, zip(*of_heads, strict=True)))
        if not all(heads):
            more = zip(heads, zip(*of_heads, strict=True), owners, carried, strict=True)
            known = self._heads.get  # which may know it by now, of a span before it
            heads = [
                head or known(key) or self._head(key, owner, test)
                for head, key, owner, test in more
            ]
        parts = heads, shown, _before_ids(sizes), names, traces, times
        if any(extras):
            self._add_extras(zip(*alike, strict=True), columns, parts)
        pieces = [b""] * (len(parts) * len(ids))
        for at, part in enumerate(parts):
            pieces[at :: len(parts)] = part
        return b"".join(pieces)

    def _texts(self, texts: Sequence[str]) -> list[bytes]:
        if self.longest is not None:
            texts = [each[: self.longest] for each in texts]
        # At once: it takes half as long, and mostly no text has a line feed.
        found = "\n".join(texts).encode(errors="replace").split(b"\n")
        if len(found) == len(texts):
            return found
        return [each.encode(errors="replace") for each in texts]

    def _traces(
        self,
        test_ids: Sequence[str | None],
        carried: Sequence[CarriedContext | None],
        parents: Sequence[TraceParent | None],
    ) -> list[bytes]:
        """Return the fields with the trace and the parent of each span."""
        traces = [b""] * len(parents)
        if any(test_ids):
            # The id None has no trace, either.
            traces = list(map(self.test_traces.get, test_ids, repeat(b"")))
        if any(parents):
            traces = [
                trace if parent is None else _trace_of(parent, trace if test else b"")
                for trace, parent, test in zip(traces, parents, carried, strict=True)
            ]
        if not all(traces):
            trace_ids = _pieces(16, self.new_id(16 * len(traces)))
            new = map(_root.pack, repeat(_TRACE), trace_ids, repeat(_ID))
            traces = [trace or root for trace, root in zip(traces, new, strict=True)]
        return traces

    def _head(self, key: _Head, owner: Owner | None, carried: CarriedContext | None) -> bytes:
        """Return what stands before the URL of a span."""
        *_, url_size, id_size, trace_size = key
        made = self._inner(key, owner, carried)
        if key[_ERROR_TYPE]:
            made += of_length(_STATUS, number(3, _ERROR))
        made += _head_of("url.full", url_size)
        after = len(_head_of("trafficmock.request.id", id_size)) + id_size + trace_size
        size = len(made) + url_size + after + _times.size
        return _cached(self._heads, key, length_head(_SPAN, size) + made)

    def _inner(self, key: _Head, owner: Owner | None, carried: CarriedContext | None) -> bytes:
        """Return the name, the kind and the attributes of a span that others have, too."""
        common, owned = key[:6], key[6:8]
        made = self._commons.get(common) or self._common(common)
        return made + (self._owners.get(owned) or self._owned(owned, owner, carried or owner))

    def _add_extras(
        self,
        keys: Iterable[tuple[Any, ...]],
        columns: list[Any],
        parts: tuple[list[bytes], ...],
    ) -> None:
        """Write what few spans have; all parts of such a span become the first one."""
        *_, owners, all_carried, _, all_extras = columns
        rows = zip(keys, owners, all_carried, all_extras, strict=True)
        for at, (key, owner, carried, extras) in enumerate(rows):
            if extras is None:
                continue
            _, url, id_head, name, trace, times = (each[at] for each in parts)
            inner = (
                self._inner(key, owner, carried),
                _head_of("url.full", len(url)),
                url,
                id_head,
                name,
                trace,
                times if key[_DECISION] else times[: -len(_DURATION) - 8],
                self._rare(key[_ERROR_TYPE], carried, extras),
            )
            for each in parts:
                each[at] = b""
            parts[0][at] = of_length(_SPAN, b"".join(inner))

    def _rare(self, error_type: str, carried: CarriedContext | None, extras: Extras) -> bytes:
        """Return what few spans have."""
        parts = []
        if carried is not None and carried.late:
            parts.append(attribute(_ATTRIBUTE, "trafficmock.test.late", value=True))
        if extras.is_socket:
            parts.append(attribute(_ATTRIBUTE, "network.protocol.name", "websocket"))
        if extras.resends:
            parts.append(attribute(_ATTRIBUTE, "http.request.resend_count", extras.resends))
        if extras.error:
            error = self._cut(self.redact_text(extras.error))
            parts.append(attribute(_ATTRIBUTE, "trafficmock.error", error))
            parts.append(of_length(_STATUS, text(2, error) + number(3, _ERROR)))
        elif error_type:
            parts.append(of_length(_STATUS, number(3, _ERROR)))
        parts += map(_event, extras.events or ())
        if extras.dropped_events:
            parts.append(number(12, extras.dropped_events))
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


@lru_cache(maxsize=_MOST_CACHED)
def _head_of(key: str, size: int) -> bytes:
    """Return what stands before the text of an attribute of so many bytes."""
    return attribute(_ATTRIBUTE, key, "x" * size)[: -size or None]


def _ids_of(
    owners: Sequence[Owner | None], carried: Sequence[CarriedContext | None]
) -> tuple[list[str | None], list[str | None]]:
    """Return the ids of the routes, and those of the tests, of spans."""
    none: list[str | None] = [None] * len(owners)
    route_ids = none
    tests: Sequence[CarriedContext | Owner | None] = carried
    if any(owners):
        route_ids = [None if owner is None else owner.route_id for owner in owners]
        tests = owners
        if any(carried):
            tests = [test or owner for test, owner in zip(carried, owners, strict=True)]
    if any(tests):
        return route_ids, [None if test is None else test.test_id for test in tests]
    return route_ids, none


def _sizes(texts: Sequence[bytes]) -> list[int]:
    """Return how long each text is; mostly all are as long."""
    sizes = set(map(len, texts))
    return list(sizes) * len(texts) if len(sizes) == 1 else list(map(len, texts))


def _before_ids(sizes: Sequence[int]) -> list[bytes]:
    """Return what stands before the ids of so many bytes, which mostly are as long."""
    heads = {size: _head_of("trafficmock.request.id", size) for size in set(sizes)}
    if len(heads) == 1:
        return [*heads.values()] * len(sizes)
    return [heads[size] for size in sizes]


def trace_below(parent: TraceParent) -> bytes:
    """Return the fields with the trace and the parent of a span, up to its own id."""
    return b"".join((_PARENT, parent.span_id, _TRACE, parent.trace_id, _ID))


def _trace_of(parent: TraceParent, trace: bytes) -> bytes:
    """Return the trace and the parent of a request whose header names a parent.

    Agents and the forward proxy put an alias in the place of a context before they tell of a
    request, also where it is the id of a trace: the context is known by its test alone.

    :param trace: that of the test whose context the request carries; empty without one.
    """
    trace_id = trace[len(_PARENT) + 8 + len(_TRACE) :][:16] or parent.trace_id
    return trace_below(TraceParent(trace_id, parent.span_id))


def _pieces(size: int, content: bytes) -> tuple[bytes, ...]:
    """Divide bytes into pieces."""
    return struct.unpack(f"{size}s" * (len(content) // size), content)


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


def origins_of(urls: Sequence[str]) -> list[str]:
    """Return the beginning of each URL: scheme, host and port, with a slash if one follows.

    Most have a beginning like others. It takes half as long to look whether one has, as long as
    these are of few sizes, as to look for the slash.
    """
    origins: list[str] = []
    known: set[str] = set()
    sizes: list[int] = []
    size = 0
    for url in urls:
        origin = url[:size]  # as long as the one before, mostly
        if origin not in known:
            for size in sizes:
                origin = url[:size]
                if origin in known:
                    break
            else:
                size = url.find("/", 8) + 1
                origin = url[:size] if size else url
                if size and len(sizes) < _MOST_SIZES:
                    known.add(origin)
                    if size not in sizes:
                        sizes.append(size)
        origins.append(origin)
    return origins


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


def scope_spans(spans: Sequence[bytes], resource: bytes, scope: bytes) -> list[bytes]:
    """Return an ``ExportTraceServiceRequest``, in parts: a batch may have megabytes.

    :param spans: what calls of :meth:`SpanWriter.fields` returned.
    :param resource: the message ``Resource``.
    :param scope: the message ``InstrumentationScope``.
    """
    of_scope, of_resource = of_length(1, scope), of_length(1, resource)
    inner_size = len(of_scope) + sum(map(len, spans))
    inner = length_head(2, inner_size)
    outer = length_head(1, len(of_resource) + len(inner) + inner_size)
    return [b"".join((outer, of_resource, inner, of_scope)), *spans]
