"""Finds the route that is most similar to a refused request, and in what they differ."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING

from attrs import frozen

from trafficmock.core.ownership.registry import compile_route
from trafficmock.matching.glob_difference import differing_parts
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import MatchResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.core.lifecycle import Owned
    from trafficmock.core.ownership.registry import RegisteredRoute, Registry
    from trafficmock.matching.url_parts import UrlParts

MOST_COMPARED = 200
"""The most routes that are compared with one request, the newest ones."""

_LONGEST_COMPARED = 200
"""The most characters of a glob and a path whose similarity is measured."""

_BY_CLOSENESS = (
    *("host", "scheme", "url", "client", "port", "method", "path", "query", "predicate"),
    "handler",
)
"""Of two routes with the same number of differences, that with the later first one is nearer."""


@frozen
class Nearest:
    """The most similar route.

    :param differs: the first part that :func:`differing` returns.
    """

    route: RegisteredRoute
    differs: str


def nearest_route(
    registry: Registry,
    routes: Iterable[RegisteredRoute],
    pending: Owned,
    parts: UrlParts | None,
) -> Nearest | None:
    """Return the route that is most similar to a request or WebSocket.

    :param routes: the routes to compare, the newest first.
    :param parts: the parts of the request's URL; ``None`` if it cannot be parsed.
    :returns: ``None`` without a route.
    """
    budget = MatchBudget(registry.pattern_cache, registry.regex_steps)
    best: Nearest | None = None
    best_rank: tuple[int, int, float] | None = None
    for route in islice(routes, MOST_COMPARED):
        found = differing(route, pending, parts, budget)
        likeness = _likeness(route, parts) if "path" in found else 0.0
        rank = len(found), -_BY_CLOSENESS.index(found[0]), -likeness
        if best_rank is None or rank < best_rank:
            best, best_rank = Nearest(route, found[0]), rank
    return best


def differing(
    route: RegisteredRoute, pending: Owned, parts: UrlParts | None, budget: MatchBudget
) -> list[str]:
    """Return the differences of a request from a route.

    :returns: at least one of ``method``, ``client``, ``scheme``, ``host``, ``port``, ``path``,
        ``query``, ``url`` (a regular expression), ``predicate`` (the test's function returned
        false) and ``handler`` (the route matches, but its handler fell back), in this order.
    """
    matcher = compile_route(route.matcher)
    found = []
    if matcher.methods and pending.method.upper() not in matcher.methods:
        found.append("method")
    if matcher.client_ids and pending.client_id not in matcher.client_ids:
        found.append("client")
    judged = matcher.condition.judge(JudgedUrl(pending.url), budget)
    if judged is not MatchResult.YES:
        found += _of_url(route, parts, judged)
    return found or ["handler"]


def _of_url(route: RegisteredRoute, parts: UrlParts | None, judged: MatchResult) -> list[str]:
    glob = route.matcher.url_glob
    named = differing_parts(glob, parts) if isinstance(glob, str) and parts is not None else []
    if judged is MatchResult.UNDECIDABLE:
        return named or ["predicate"]
    if named:
        return named
    return ["url"] if route.matcher.url_regex or not glob else ["path"]


def _likeness(route: RegisteredRoute, parts: UrlParts | None) -> float:
    glob = route.matcher.url_glob
    if parts is None or not isinstance(glob, str):
        return 0.0
    wanted, there = glob[-_LONGEST_COMPARED:], parts.path[-_LONGEST_COMPARED:]
    return SequenceMatcher(None, wanted, there, autojunk=False).ratio()
