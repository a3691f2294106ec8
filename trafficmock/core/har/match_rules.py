"""The rules by which requests are compared with recorded ones: Playwright's, or parts as in VCR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote_plus

import msgspec
from attrs import field, frozen

from trafficmock.matching.request_content import RequestContent, UnreadablePartError
from trafficmock.matching.url_parts import comparable_url, url_parts
from trafficmock.texts.marked_texts import fits
from trafficmock.texts.named_fields import InvalidFieldError, NamedFields
from trafficmock.wire.http_syntax import lower_case
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedRequest
from trafficmock.wire.payloads.serialized_response import becomes_get, redirect_target

OF_URL: Final = ("url", "scheme", "host", "port", "path", "query")
PARTS: Final = ("method", *OF_URL, "headers", "body", "json", "form")
"""The parts that a user may name, besides ``header:NAME``."""

MATCHED_BY_DEFAULT: Final = ("method", "url", "body")
"""Playwright's rule, by which the body counts only where it is that of a ``POST``."""

_IGNORED: Final = ("header:", "query:", "json:", "form:")
_OF_EACH_REQUEST = frozenset(
    {"baggage", "connection", "content-length", "host", "keep-alive", "traceparent", "tracestate"}
) | {"transfer-encoding", "user-agent"}
"""Headers that are not compared: they tell of the connection, of the client's version, and of the
trace of this one request."""

_BOUNDARY = re.compile(r"boundary=\"?([^\";\r\n]+)")
_MARK = "[redacted:"
_MOST_WHOLE = 2**53
"""Above it, a number of JavaScript is not exact."""

_FORM = "application/x-www-form-urlencoded"

Key = tuple[str, ...]
"""The parts of a request's head that have to be equal, as texts."""


class MatchRuleError(ValueError):
    """A rule of a user is none; the message says what is allowed."""


@frozen
class HarQuestion:
    """A request to look up, or one of the HAR.

    :param url: the URL, as :func:`comparable_url` returns it.
    :param lines: the header lines, with names in lower case.
    """

    url: str = field(converter=comparable_url)
    method: str
    lines: HeaderPairs = field(repr=False)
    content: bytes = field(repr=False)

    @classmethod
    def of(cls, request: SerializedRequest) -> HarQuestion:
        """Return the question for a request."""
        lines = lower_case(request.headers, request.headers_list)
        return cls(request.url, request.method, lines, body.to_bytes(request.body_base64))

    def follow(self, status: int, location: str) -> HarQuestion:
        """Return the request that a client sends after a redirect (the Fetch standard's rules)."""
        url = redirect_target(self.url, location) or location
        method, content = self.method, self.content
        if becomes_get(status, method):
            method, content = "GET", b""
        return HarQuestion(url, method, self.lines, content)

    def read(self) -> RequestContent:
        """Return the request as conditions look at it."""
        return RequestContent(self.url, self.lines, lambda: self.content)

    def header(self, name: str) -> str:
        """Return the first value of a header, empty text without it."""
        return next((value for each, value in self.lines if each == name), "")


@frozen
class MatchRules:
    """What is compared, and which fields are not.

    :ivar parts: those of :data:`PARTS`, and ``header:NAME``.
    :ivar is_default: nobody has chosen the parts.
    """

    parts: tuple[str, ...] = MATCHED_BY_DEFAULT
    is_default: bool = True
    ignored: NamedFields = field(factory=NamedFields)

    @classmethod
    def of(cls, match_on: Sequence[str] | None, ignore: Sequence[str]) -> MatchRules:
        """Read what a user wrote.

        :param match_on: the parts; ``None`` for the default ones.
        :param ignore: fields, such as ``json:meta.id`` or ``query:nonce``.
        :raises MatchRuleError: a word is none of those.
        """
        for part in match_on or ():
            kind, _, name = part.partition(":")
            if part not in PARTS and not (kind == "header" and name):
                raise MatchRuleError(
                    f"requests are matched on {', '.join(PARTS)} or header:NAME, not on {part!r}"
                )
        if match_on is not None and not match_on:
            raise MatchRuleError("requests are matched on one part at least")
        for word in ignore:
            if not word.startswith(_IGNORED):
                raise MatchRuleError(
                    f"ignore: {word!r} is none of header:NAME, query:NAME, json:PATH, form:NAME"
                )
        try:
            ignored = NamedFields.of(ignore, "ignore") or NamedFields()
        except InvalidFieldError as error:
            raise MatchRuleError(str(error)) from None
        if match_on is None:
            return cls(ignored=ignored)
        return cls(tuple(part.lower() for part in match_on), is_default=False, ignored=ignored)

    def key(self, method: str, url: str) -> Key:
        """Return the parts of a method and URL that have to be equal.

        :param url: as :func:`comparable_url` returns it.
        """
        parts = url_parts(url) if set(self.parts) & set(OF_URL[1:]) else None
        # Programs write `get`, which no client sends.
        found: dict[str, str] = {"method": method.upper(), "url": self.compared_url(url)}
        for name in OF_URL[1:-1]:
            # What is no URL is compared as a whole.
            found[name] = url if parts is None else getattr(parts, name)
        if "query" in self.parts:
            found["query"] = self._fields("query", HarQuestion(url, method, [], b"").read())
        return tuple(found[part] for part in self.parts if part in found)

    def fits(self, recorded: Key, asked: Key) -> bool:
        """Return whether a key is one with marks, for which any values may stand."""
        names = [part for part in self.parts if part in ("method", *OF_URL)]
        return all(
            one == other or fits(one, other, is_url=name != "query")
            for name, one, other in zip(names, recorded, asked, strict=True)
        )

    def compared_url(self, url: str) -> str:
        """Return a URL without the parameters that are ignored."""
        ignored = self.ignored.query
        if not ignored:
            return url
        base, _, query = url.partition("?")
        kept = [
            pair
            for pair in query.split("&")
            if pair and unquote_plus(pair.partition("=")[0]) not in ignored
        ]
        return f"{base}{'?' if kept else ''}{'&'.join(kept)}"

    def content_forms(self, request: HarQuestion) -> tuple[str, ...]:
        """Return the parts beside method and URL, as texts that are equal for equal parts."""
        read = request.read()
        return tuple(self._form_of(part, request, read) for part in self.parts_beside)

    @property
    def parts_beside(self) -> tuple[str, ...]:
        """The parts that are neither the method nor of the URL."""
        return tuple(part for part in self.parts if part not in ("method", *OF_URL))

    def leaves_body(self, request: HarQuestion) -> bool:
        """Return whether the body of a request does not count: Playwright's rule."""
        return self.is_default and (request.method != "POST" or not request.content)

    def reading(self, part: str, request: HarQuestion) -> str:
        """Return how a part of a request is read: ``json``, ``form``, ``header`` or ``bytes``."""
        if part.startswith("header"):
            return "header"
        is_form = request.header("content-type").partition(";")[0].strip().lower() == _FORM
        if is_form and (part == "form" or (part == "body" and self.ignored.form)):
            return "form"
        if part == "json" or (part == "body" and self.ignored.paths):
            return "json"
        return "bytes"

    def _form_of(self, part: str, request: HarQuestion, read: RequestContent) -> str:
        how = self.reading(part, request)
        # Without an end of the recursion in a deep document, its bytes are compared.
        with suppress(UnreadablePartError, RecursionError):
            if how == "json":
                return _written(_numbered(self.without_ignored(read.values("json", ())[0])))
            if how == "form":
                return self._fields("form", read)
        if how == "header":
            return _written(self.compared_headers(part, read))
        return without_boundary(request).decode("latin-1")

    def compared_headers(self, part: str, read: RequestContent) -> dict[str, list[str]]:
        """Return the headers that ``headers`` or ``header:NAME`` compares."""
        wanted = part.partition(":")[2]
        left_out = _OF_EACH_REQUEST | self.ignored.headers
        return {
            name: values
            for name, values in read.fields("header").items()
            if (name == wanted if wanted else name not in left_out)
        }

    def compared_fields(self, part: str, read: RequestContent) -> dict[str, list[str]]:
        """Return the fields of a query or a form without those that are ignored.

        :raises UnreadablePartError: it cannot be read.
        """
        ignored = self.ignored.query if part == "query" else self.ignored.form
        return {name: values for name, values in read.fields(part).items() if name not in ignored}

    def _fields(self, part: str, read: RequestContent) -> str:
        try:
            return _written(self.compared_fields(part, read))
        except UnreadablePartError:
            return read.url if part == "query" else ""

    def without_ignored(self, value: Any) -> Any:
        """Return a JSON value without the places that are ignored."""
        paths = self.ignored.paths
        return _without(value, tuple((path, 0) for path in paths))


def likeness(recorded: tuple[str, ...], asked: tuple[str, ...]) -> int:
    """Return 2 for equal forms, 1 if marks in the recorded ones stand for a difference, else 0."""
    if recorded == asked:
        return 2
    return int(
        all(
            one == other or (_MARK in one and fits(one, other))
            for one, other in zip(recorded, asked, strict=True)
        )
    )


def without_boundary(request: HarQuestion) -> bytes:
    """Return the body of a request without the boundary of its parts, which is random."""
    found = _BOUNDARY.search(request.header("content-type"))
    if found is None:
        return request.content
    return request.content.replace(found[1].strip().encode(), b"")


def _written(value: Any) -> str:
    """Return a value as JSON, the same for objects with the same members."""
    return msgspec.json.encode(value, order="sorted").decode()


def _numbered(value: Any) -> Any:
    """Return a JSON value with numbers such as ``1.0`` written as ``1``."""
    if isinstance(value, dict):
        return {name: _numbered(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_numbered(inner) for inner in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _MOST_WHOLE
    return int(value) if is_whole else value


_Place = tuple[tuple[str, ...], int]
"""A path in JSON, and how many of its steps lead to a value."""

_Places = tuple[_Place, ...]


def _without(value: Any, places: _Places) -> Any:
    """Return a value without what the rest of some paths names; it goes nowhere else."""
    if not places or not isinstance(value, dict | list):
        return value
    members: Iterable[tuple[Any, Any]]
    members = value.items() if isinstance(value, dict) else enumerate(value)
    kept = []
    for name, inner in members:
        after = _step(places, str(name))
        if after is not None:
            kept.append((name, _without(inner, after)))
    return dict(kept) if isinstance(value, dict) else [inner for _, inner in kept]


@lru_cache(maxsize=4096)
def _step(places: _Places, name: str) -> _Places | None:
    """Return where a step into a member leads to; ``None`` if a path names the member."""
    after = tuple(dict.fromkeys(_after(places, name)))
    is_named = any(all(step == "**" for step in path[at:]) for path, at in after)
    return None if is_named else after


def _after(places: _Places, name: str) -> Iterator[_Place]:
    """Yield the places that a step into a member leads to."""
    for path, at in places:
        here = at
        while here < len(path) and path[here] == "**":
            yield path, here
            here += 1
        if here < len(path) and path[here] in ("*", name):
            yield path, here + 1
