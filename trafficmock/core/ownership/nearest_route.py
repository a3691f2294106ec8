"""Which route comes closest to a request that none wants, and what keeps it from matching."""

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
"""Routes that are looked at for one request, the newest ones."""

_LONGEST_COMPARED = 200
"""Characters of a glob and a path whose likeness is measured."""

_BY_CLOSENESS = (
    *("host", "scheme", "url", "client", "port", "method", "path", "query", "predicate"),
    "handler",
)
"""Of routes with equally many differences, the one that differs in the later part is closer."""


@frozen
class Nearest:
    """The closest route.

    :param differs: the first part that differs, of those that ``differing`` names.
    """

    route: RegisteredRoute
    differs: str


def nearest_route(
    registry: Registry,
    routes: Iterable[RegisteredRoute],
    pending: Owned,
    parts: UrlParts | None,
) -> Nearest | None:
    """Find the route that comes closest to a request or WebSocket.

    :param routes: those that might have wanted it, the newest first.
    :param parts: of its URL, where it can be taken apart.
    :returns: ``None`` where there is no route.
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
    """Name what keeps a route from matching, in the order in which people look.

    :returns: at least one of ``method``, ``client``, ``scheme``, ``host``, ``port``, ``path``,
        ``query``, ``url`` (a regular expression), ``predicate`` (the test's function said no) and
        ``handler`` (the route matches, but its handler gave the request back).
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
