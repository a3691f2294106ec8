"""Finds the route that is most similar to a refused request, and in what they differ."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from attrs import frozen

from trafficmock.core.ownership.differences import ComparedMatcher, ComparedRequest
from trafficmock.matching.patterns.match_cost import MatchBudget
from trafficmock.wire.payloads.similar_requests import Difference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.core.lifecycle import Owned
    from trafficmock.core.ownership.differences import Rank
    from trafficmock.core.ownership.registry import RegisteredRoute, Registry
    from trafficmock.matching.url_parts import UrlParts

MOST_COMPARED = 200
"""The most routes that are compared with one request, the newest ones."""

_FELL_BACK = Difference("handler")
"""The route matches, but its handler fell back."""


@frozen
class Nearest:
    """The most similar route.

    :param differs: its first difference.
    """

    route: RegisteredRoute
    differs: Difference


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
    request = ComparedRequest(pending.method, pending.url, pending.client_id, parts)
    best: Nearest | None = None
    best_rank: Rank | None = None
    for route in islice(routes, MOST_COMPARED):
        matcher = ComparedMatcher(route.matcher)
        found = matcher.differences(request, budget) or [_FELL_BACK]
        rank = matcher.rank(request, found)
        if best_rank is None or rank < best_rank:
            best, best_rank = Nearest(route, found[0]), rank
    return best
