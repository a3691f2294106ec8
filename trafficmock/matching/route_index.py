"""The index of all routes of one kind: finds the routes that match a request."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import attrs
from msgspec import Struct

from trafficmock.matching.candidates import Candidates
from trafficmock.matching.compiled_matcher import IMPOSSIBLE, RouteMatcher, UrlCondition
from trafficmock.matching.conditioned_routes import ConditionedRoutes, Keys, Owners
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget, PatternCache
from trafficmock.matching.patterns.match_result import NO, YES
from trafficmock.matching.request_content import RequestContent


class MatchingRoutes(Struct, frozen=True):
    """The routes that match a request, as far as the coordinator can decide.

    :param yes: keys of the matching routes, in the order of their registration.
    :param undecided: keys of the routes about which only the worker can decide, in that order.
    :param awaiting: groups of owners of the routes about which the body of the request decides,
        which is still to come; they change with the routes.
    """

    yes: list[str]
    undecided: list[str]
    awaiting: list[Owners] = []


class _Found(Struct, frozen=True, gc=False):
    """Groups of keys, as in :class:`MatchingRoutes`.

    :param content: returns the parts of the request for conditions on more than the URL.
    """

    content: Callable[[], RequestContent] | None
    yes: list[Keys] = []
    undecided: list[Keys] = []
    awaiting: list[Owners] = []


@attrs.define(eq=False)
class _RoutesOfClient:
    """The routes with one client id, or with none: keys by condition and by method."""

    candidates: Candidates[UrlCondition] = attrs.Factory(Candidates)
    #: The method is None for the routes without methods, which match any.
    keys: dict[UrlCondition, dict[str | None, Keys]] = attrs.Factory(dict)
    #: The routes with conditions on more than the URL, which are not among the keys.
    conditioned: dict[UrlCondition, ConditionedRoutes] = attrs.Factory(dict)

    def add(self, number: int, key: str, matcher: RouteMatcher, owner: str) -> None:
        condition = matcher.condition
        if condition not in self.keys:
            self.keys[condition] = {}
            self.candidates.add(condition, condition.literals)
        if matcher.beside is not None:
            routes = self.conditioned.setdefault(condition, ConditionedRoutes())
            routes.add(number, key, matcher, matcher.beside, owner)
            return
        for method in matcher.methods or (None,):
            self.keys[condition].setdefault(method, {})[number] = key

    def remove(self, number: int, matcher: RouteMatcher, owner: str) -> bool:
        """Remove a route.

        :returns: whether no other route has its condition.
        """
        condition = matcher.condition
        by_method = self.keys[condition]
        if matcher.beside is not None:
            self.conditioned[condition].remove(number, matcher, matcher.beside, owner)
            if not len(self.conditioned[condition]):
                del self.conditioned[condition]
        else:
            for method in matcher.methods or (None,):
                del by_method[method][number]
                if not by_method[method]:
                    del by_method[method]
        if not by_method and condition not in self.conditioned:
            del self.keys[condition]
            self.candidates.remove(condition)
            return True
        return False

    def judge(
        self,
        subject: JudgedUrl,
        method: str,
        found: _Found,
        budget: MatchBudget,
        elsewhere: JudgedUrl | None,
    ) -> None:
        """Add groups of keys to ``found``."""
        for condition in self.candidates.find(subject.url):
            by_method = self.keys[condition]
            groups = [by_method[None]] if None in by_method else []
            if method in by_method:
                groups.append(by_method[method])
            beside = self.conditioned.get(condition) if self.conditioned else None
            if not groups and beside is None:
                continue
            result = condition.judge(subject, budget)
            if result is NO:
                continue
            if elsewhere is not None and condition.judge(elsewhere, budget) is not NO:
                continue
            if beside is not None and found.content is not None:
                meeting, awaiting = beside.find(method, found.content())
                groups.append(meeting)
                found.awaiting.extend(awaiting)
            (found.yes if result is YES else found.undecided).extend(groups)


class RouteIndex:
    """The active routes of one kind, HTTP or WebSocket.

    A request takes about the same time with ten routes and with ten thousand: only the routes
    whose client id and rarest literal text the request has are compared.

    :param pattern_cache: keeps compiled patterns; several indexes may share it.
    """

    def __init__(self, pattern_cache: PatternCache | None = None) -> None:
        self._pattern_cache = pattern_cache or PatternCache()
        self._numbers = itertools.count()
        self._routes: dict[str, tuple[int, RouteMatcher, str]] = {}
        self._by_client: defaultdict[str | None, _RoutesOfClient] = defaultdict(_RoutesOfClient)

    def add(self, key: str, matcher: RouteMatcher, owner: str = "") -> None:
        """Add a route.

        :param key: identifies the route in results.
        :param matcher: see :func:`trafficmock.matching.compile_matcher`.
        :param owner: whose route it is, for :attr:`MatchingRoutes.awaiting`.
        :raises KeyError: for a key that is there already.
        """
        if key in self._routes:
            raise KeyError(key)
        number = next(self._numbers)
        self._routes[key] = number, matcher, owner
        if matcher.condition is not IMPOSSIBLE:
            for client_id in matcher.client_ids or (None,):
                self._by_client[client_id].add(number, key, matcher, owner)

    def remove(self, key: str) -> None:
        """Remove a route.

        :raises KeyError: for an unknown key.
        """
        number, matcher, owner = self._routes.pop(key)
        if matcher.condition is IMPOSSIBLE:
            return
        for client_id in matcher.client_ids or (None,):
            routes = self._by_client[client_id]
            if routes.remove(number, matcher, owner):
                for pattern in matcher.condition.patterns:
                    self._pattern_cache.forget(pattern)
            if not routes.keys:
                del self._by_client[client_id]

    def conditions(self) -> Iterator[UrlCondition]:
        """Yield the conditions of the routes on URLs; a shared one may be repeated."""
        for routes in self._by_client.values():
            yield from routes.keys

    def judge(
        self,
        url: str,
        method: str,
        client_id: str,
        content: Callable[[], RequestContent] | None = None,
        *,
        elsewhere: str | None = None,
    ) -> MatchingRoutes:
        """Compare a request with all routes; the result is that of :meth:`RouteMatcher.judge`.

        Routes for which too few steps are left are undecided.

        :param url: the whole URL.
        :param method: the method, in any case; ``GET`` for a WebSocket.
        :param client_id: the client id of the agent that sent the request.
        :param content: returns the other parts of the request. Without it, no route with
            conditions on them matches.
        :param elsewhere: the same URL at another origin: routes that may match it as well are left
            out, because they do not name the origin of ``url``.
        """
        found = _Found(content)
        method = method.upper()
        subject, budget = JudgedUrl(url), MatchBudget(self._pattern_cache)
        other = None if elsewhere is None else JudgedUrl(elsewhere)
        for filtered_by in (None, client_id):
            if filtered_by in self._by_client:
                self._by_client[filtered_by].judge(subject, method, found, budget, other)
        undecided = _in_order(found.undecided) if found.undecided else []
        return MatchingRoutes(_in_order(found.yes), undecided, found.awaiting)


def _in_order(groups: Sequence[Keys]) -> list[str]:
    """Join groups of keys in the order of their registration."""
    if not groups:
        return []
    if len(groups) == 1:
        return list(groups[0].values())
    return [key for _, key in sorted(itertools.chain(*(g.items() for g in groups)))]
