"""Reads the arguments that select requests: globs, regular expressions, predicates, filters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from attrs import frozen
from msgspec import UNSET, UnsetType

from trafficmock.matching.patterns.given_glob import GivenGlob
from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.callables import describe
from trafficmock.testing.session.arguments.js_patterns import js_pattern
from trafficmock.testing.session.arguments.match_conditions import (
    ValueCheck,
    read_conditions,
)
from trafficmock.testing.session.arguments.request_overrides import check_method
from trafficmock.testing.session.arguments.value_checks import all_met
from trafficmock.texts.unknown_words import unknown_words
from trafficmock.wire.payloads import serialized_matcher as wire
from trafficmock.wire.payloads.serialized_matcher import PlacedValues


@runtime_checkable
class URLPattern(Protocol):
    """An object that tests URLs, like JavaScript's class of this name."""

    def test(self, url: str, /) -> bool:
        """Return whether the URL matches."""


UrlMatcher = str | re.Pattern[str] | Callable[[str], bool] | URLPattern | Mapping[str, Any] | None
Names = str | Iterable[str] | None


@frozen(eq=False)
class Matcher:
    """The condition of a route or wait.

    :param url: the argument of the test; ``None`` matches every URL.
    :param methods: upper-case methods; empty matches all.
    :param client_ids: exact client ids; empty matches all.
    :param wire: the condition as the proxy gets it.
    :param checks: the functions in the place of values, which only this process can call.
    """

    url: UrlMatcher
    methods: tuple[str, ...]
    client_ids: tuple[str, ...]
    wire: wire.SerializedMatcher
    _test: Callable[[str], Any]
    checks: tuple[ValueCheck, ...] = ()

    def matches(self, url: str, method: str, client_id: str) -> bool:
        """Return whether a request matches by these; a predicate is called after the others."""
        if self.methods and method.upper() not in self.methods:
            return False
        if self.client_ids and client_id not in self.client_ids:
            return False
        return self.matches_url(url)

    def matches_url(self, url: str) -> bool:
        return bool(self._test(url))

    def matches_values(self, values: list[PlacedValues] | UnsetType) -> bool:
        """Return whether the functions accept the values of a request, which the proxy sends."""
        return all_met(self.checks, values or ())

    def same_as(self, other: Matcher) -> bool:
        """Return whether both have the same arguments; predicates are compared by identity."""
        own, others = (
            (each.methods, each.client_ids, each.wire.conditions, each.checks)
            for each in (self, other)
        )
        filters = own == others
        if isinstance(self.url, str | re.Pattern):
            return filters and type(self.url) is type(other.url) and self.url == other.url
        return filters and self.url is other.url

    def __str__(self) -> str:
        parts = [_describe(self.url)]
        parts += [f"method={'/'.join(self.methods)}"] if self.methods else []
        parts += [f"client_id={'/'.join(self.client_ids)}"] if self.client_ids else []
        parts += ["with conditions"] if self.wire.conditions else []
        return " ".join(parts)


def make_matcher(
    url: UrlMatcher,
    *,
    method: Names = None,
    client_id: Names = None,
    base_url: str | None = None,
    websocket: bool = False,
    match: Mapping[str, Any] | None = None,
) -> Matcher:
    """Read the arguments that select requests.

    :param url: a glob, a ``re.Pattern``, a predicate over the URL, a URLPattern, or a mapping with
        the keys ``url``, ``method`` and ``client_id``.
    :param method: a method or several, in any case.
    :param client_id: a client id or several.
    :param base_url: the URL that relative globs are resolved against.
    :param websocket: whether the URLs are those of WebSockets.
    :param match: the arguments of :class:`.MatchArguments`.
    :raises UsageError: an argument is invalid.
    :raises GlobError: the glob's braces are nested or unmatched, or it ends within the host, as
        ``https://**``.
    """
    if isinstance(url, Mapping):
        wrong = unknown_words("keys of a filter", url, ("url", "method", "client_id"))
        if wrong:
            raise UsageError(wrong)
        method = url.get("method") if method is None else method
        client_id = url.get("client_id") if client_id is None else client_id
        url = url.get("url")
    methods = tuple(name.upper() for name in _names(method, "method"))
    for name in methods:
        check_method(name)
    client_ids = _names(client_id, "client_id")
    conditions, test = _url_part(url, base_url=base_url, websocket=websocket)
    compared, checks = read_conditions(match or {})
    conditions = wire.SerializedMatcher(
        url_glob=conditions.url_glob,
        url_regex=conditions.url_regex,
        predicate=True if checks else conditions.predicate,
        methods=list(methods) or UNSET,
        client_ids=list(client_ids) or UNSET,
        conditions=compared or UNSET,
    )
    return Matcher(url, methods, client_ids, conditions, test, checks)


def check_http(matcher: Matcher) -> None:
    """Check that a matcher is not for WebSockets only.

    :raises UsageError: its glob has the scheme ``ws`` or ``wss``, which no HTTP request has.
    """
    if isinstance(matcher.url, str) and matcher.url.lower().startswith(("ws:", "wss:")):
        raise UsageError(
            f"mock answers HTTP requests, and {matcher.url!r} is for WebSockets: "
            "route_web_socket takes their part"
        )


def _names(given: Names, what: str) -> tuple[str, ...]:
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not all(isinstance(name, str) and name for name in names):
        raise UsageError(f"{what} is a text or several, not {given!r}")
    return names


def _url_part(
    url: UrlMatcher, *, base_url: str | None, websocket: bool
) -> tuple[wire.SerializedMatcher, Callable[[str], Any]]:
    if url is None:
        return wire.SerializedMatcher(), lambda _: True
    if isinstance(url, str):
        return _glob_part(url, base_url=base_url, websocket=websocket)
    if isinstance(url, re.Pattern):
        if not isinstance(url.pattern, str):
            raise UsageError("a pattern for URLs must be made of str, not of bytes")
        return _pattern_on_wire(url), url.search
    if isinstance(url, URLPattern):
        return wire.SerializedMatcher(predicate=True), url.test
    if callable(url):
        if inspect.iscoroutinefunction(url):
            raise UsageError("a predicate over the URL must be a plain function")
        return wire.SerializedMatcher(predicate=True), url
    raise UsageError(
        "a matcher is a glob, a re.Pattern, a function of the URL, a URLPattern or a filter, "
        f"not {type(url).__name__}"
    )


def _glob_part(
    glob: str, *, base_url: str | None, websocket: bool
) -> tuple[wire.SerializedMatcher, Callable[[str], Any]]:
    given = GivenGlob(glob, base_url, websocket)
    compiled, absolute = given.compile(), given.absolute()
    # Without an absolute form, the proxy has to ask this process.
    wired = (
        wire.SerializedMatcher(predicate=True)
        if absolute is None
        else wire.SerializedMatcher(url_glob=absolute)
    )
    return wired, compiled.fullmatch


def _pattern_on_wire(pattern: re.Pattern[str]) -> wire.SerializedMatcher:
    """Return the pattern for the proxy if JavaScript reads it alike, else the order to ask."""
    regex = js_pattern(pattern)
    if regex is UNSET:
        return wire.SerializedMatcher(predicate=True)
    return wire.SerializedMatcher(url_regex=regex)


def _describe(url: UrlMatcher) -> str:
    if url is None:
        return "any URL"
    if isinstance(url, str):
        return repr(url)
    if isinstance(url, re.Pattern):
        return f"the pattern {url.pattern!r}"
    return describe(url, "predicate")
