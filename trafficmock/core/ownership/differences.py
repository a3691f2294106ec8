"""Finds the parts in which a request differs from a matcher, and the most similar route."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

from attrs import field, frozen
from msgspec import UNSET, Struct, UnsetType

from trafficmock.core.ownership.compared_content import content_of
from trafficmock.core.ownership.registry import Registry, compile_route
from trafficmock.core.state.lifecycle import Owned, PendingRequest
from trafficmock.core.state.registered import RegisteredRoute
from trafficmock.matching import RouteMatcher
from trafficmock.matching.glob_difference import differing_parts, path_of
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.request_content import RequestContent
from trafficmock.matching.url_parts import UrlParts, shown_url
from trafficmock.texts.wording import cut, url_text
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher

MOST_COMPARED = 200
"""The most routes that are compared with one request, the newest ones."""


class Difference(Struct, frozen=True):
    """A part in which a request differs from a matcher.

    :param part: ``method``, ``client``, ``scheme``, ``host``, ``port``, ``path``, ``query`` (with
        its question mark), ``url`` (a regular expression), ``condition`` (``found`` says how it
        fails), ``predicate``, ``handler``, or ``origin`` (a call of the tests' own process, whose
        origin the matcher does not name).
    :param found: the value of the request; absent for ``predicate`` and ``handler``.
    :param wanted: the text of the matcher for that part; absent as well.
    """

    part: str
    found: str | UnsetType = UNSET
    wanted: str | UnsetType = UNSET

    __repr__ = quiet_repr


_FELL_BACK = Difference("handler")
"""The route matches, but its handler fell back."""

MOST_DIFFERENCES = 20
"""The most conditions of a route, beside that on its URL, that are named."""

LONGEST_TEXT = 2000
"""The most characters of a URL, or of a part of it, in a message."""

_LONGEST_COMPARED = 64
"""The most characters of a glob and a URL, their last ones, whose similarity is measured."""

_BY_CLOSENESS = (
    *("host", "scheme", "url", "client", "port", "method", "path", "query", "condition"),
    *("origin", "predicate", "handler"),
)
"""Of comparisons with as many differences, that with the later first one here is nearer."""

_OF_URL = frozenset({"scheme", "host", "port", "path", "query"})

Rank = tuple[int, int, float, int]


@frozen
class ComparedRequest:
    """A request, or the handshake of a WebSocket.

    :param parts: the parts of its URL; ``None`` if that cannot be parsed.
    :param content: its parts beside the URL, if they are compared.
    """

    method: str
    url: str
    client_id: str
    parts: UrlParts | None
    content: RequestContent | None = None


@frozen
class ComparedMatcher:
    """A matcher, compiled once for several comparisons."""

    wire: SerializedMatcher
    compiled: RouteMatcher = field(init=False)

    @compiled.default
    def _compile(self) -> RouteMatcher:
        return compile_route(self.wire)

    def differences(self, request: ComparedRequest, budget: MatchBudget) -> list[Difference]:
        """Return the differences of a request; none if the matcher matches.

        The order is method, client, URL, conditions. If only the worker can compare the URL, and no
        difference of it can be named, the last difference is ``predicate``.
        """
        matcher = self.compiled
        found = []
        if matcher.methods and request.method.upper() not in matcher.methods:
            found.append(
                _difference("method", request.method, " or ".join(self.wire.methods or ()))
            )
        if matcher.client_ids and request.client_id not in matcher.client_ids:
            found.append(
                _difference("client", request.client_id, " or ".join(self.wire.client_ids or ()))
            )
        judged = matcher.condition.judge(JudgedUrl(request.url), budget)
        if judged is not MatchResult.YES:
            found += self._of_url(request, judged)
        if matcher.beside is not None and request.content is not None:
            failed = islice(matcher.beside.differences(request.content), MOST_DIFFERENCES)
            # What only the worker can compare stays the last one.
            last = len(found) - (bool(found) and found[-1].part == "predicate")
            found[last:last] = [Difference("condition", cut(text, LONGEST_TEXT)) for text in failed]
        return found

    def origin_differences(
        self, request: ComparedRequest, elsewhere: str | None, budget: MatchBudget
    ) -> list[Difference]:
        """Return the difference of a test's own call that the matcher would take.

        :param elsewhere: its URL at another origin; ``None`` for other requests.
        :returns: nothing, if the matcher names its origin.
        """
        parts, condition = request.parts, self.compiled.condition
        if elsewhere is None or parts is None:
            return []
        if condition.judge(JudgedUrl(elsewhere), budget) is MatchResult.NO:
            return []
        return [Difference("origin", f"{parts.scheme}://{parts.authority}"[:LONGEST_TEXT])]

    def rank(self, request: ComparedRequest, found: list[Difference]) -> Rank:
        """Return the sort key of a comparison: the nearest has the lowest one.

        Of as many differences, more conditions that hold are nearer.

        :param found: the differences.
        """
        if not found:
            return 0, 0, 0.0, 0
        glob = self.wire.url_glob
        likeness = 0.0
        if isinstance(glob, str) and any(each.part in _OF_URL for each in found):
            texts = glob[-_LONGEST_COMPARED:], request.url[-_LONGEST_COMPARED:]
            likeness = SequenceMatcher(None, *texts, autojunk=False).ratio()
        failed = sum(each.part == "condition" for each in found)
        held = len(self.wire.conditions or ()) - failed
        return len(found), -_BY_CLOSENESS.index(found[0].part), -likeness, -held

    def _of_url(self, request: ComparedRequest, judged: MatchResult) -> list[Difference]:
        glob, parts = self.wire.url_glob, request.parts
        named = []
        if isinstance(glob, str) and parts is not None:
            named = [_difference(*each) for each in differing_parts(glob, parts)]
        if judged is MatchResult.UNDECIDABLE:
            return named or [Difference("predicate")]
        if named:
            return named
        if self.wire.url_regex:
            source, flags = self.wire.url_regex.source, self.wire.url_regex.flags
            shown = shown_url(request.url, LONGEST_TEXT)
            return [_difference("url", shown, f"/{source}/{flags}")]
        if isinstance(glob, str) and glob:
            return [_difference("path", "" if parts is None else parts.path, path_of(glob))]
        return [Difference("url", shown_url(request.url, LONGEST_TEXT))]


@frozen
class Nearest:
    """The most similar route.

    :param all_differs: its differences, at least one.
    """

    route: RegisteredRoute
    all_differs: list[Difference]

    @property
    def differs(self) -> Difference:
        """Its first difference."""
        return self.all_differs[0]


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
    budget = MatchBudget(registry.pattern_cache)
    content = None
    if isinstance(pending, PendingRequest):
        is_pending = pending.deferred is not None
        content = content_of(pending.request, registry, is_pending=is_pending)
    request = ComparedRequest(pending.method, pending.url, pending.client_id, parts, content)
    best: Nearest | None = None
    best_rank: Rank | None = None
    for route in islice(routes, MOST_COMPARED):
        matcher = ComparedMatcher(route.matcher)
        found = matcher.differences(request, budget) or [_FELL_BACK]
        rank = matcher.rank(request, found)
        if best_rank is None or rank < best_rank:
            best, best_rank = Nearest(route, found), rank
    return best


def _difference(part: str, found: str, wanted: str) -> Difference:
    shown = url_text(found, LONGEST_TEXT) if part in ("path", "query") else cut(found, LONGEST_TEXT)
    return Difference(part, shown, wanted[:LONGEST_TEXT])
