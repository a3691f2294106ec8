"""Reads the argument ``allow`` of strict mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trafficmock.matching.allow_list import MOST_PATTERNS, read_allow_list
from trafficmock.matching.host_pattern import PatternError
from trafficmock.matching.patterns.glob_tokens import GlobError
from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.match_conditions import MatchArguments
from trafficmock.testing.session.arguments.url_matchers import Names, UrlMatcher, make_matcher
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher


class AllowedRequests(MatchArguments, total=False):
    """Requests that strict mode lets through, by the arguments of ``route``; all must hold."""

    url: UrlMatcher
    method: Names
    client_id: Names


Allowed = str | AllowedRequests
"""A pattern of hosts or URLs, or a dict of conditions."""


_BESIDE = ("url", "method", "client_id")


def allow_patterns(allow: Iterable[Any]) -> tuple[str | SerializedMatcher, ...]:
    """Check patterns of hosts and URLs, and dicts of conditions; return them for the proxy.

    :param allow: such as ``["auth.example", "https://pay.example/token*"]``, and dicts of
        :class:`AllowedRequests`.
    :raises UsageError: it is not a list of such patterns and dicts.
    """
    if isinstance(allow, str | Mapping) or not isinstance(allow, Iterable):
        raise UsageError(f"allow is a list of hosts and URL globs, not {allow!r}")
    patterns = tuple(map(_read, allow))
    if len(patterns) > MOST_PATTERNS:
        raise UsageError(f"allow has more than {MOST_PATTERNS} items")
    try:
        read_allow_list(each for each in patterns if isinstance(each, str))
    except PatternError as error:
        raise UsageError(str(error)) from None
    return patterns


def _read(given: Any) -> str | SerializedMatcher:
    if isinstance(given, str | SerializedMatcher):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(
            f"allow is a list of hosts, URL globs and dicts of conditions; {given!r} is neither"
        )
    match = {name: value for name, value in given.items() if name not in _BESIDE}
    url = {name: value for name, value in given.items() if name in _BESIDE}
    try:
        matcher = make_matcher(url, match=match)
    except (TypeError, GlobError) as error:
        raise UsageError(f"allow: {error}") from None
    if matcher.checks:
        raise UsageError(
            "allow: a value is a function, which the proxy cannot call; make a route for these "
            "requests, whose handler continues them"
        )
    wired = matcher.wire
    if wired.predicate:
        raise UsageError(
            f"allow: the proxy cannot compare the URL {given.get('url')!r}; it compares a glob "
            "that begins with a scheme or **, and a re.Pattern in its own syntax"
        )
    return wired
