"""Answers a worker's ``history:query``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw

from trafficmock.core.ownership.registry import compile_route
from trafficmock.history.query import Query
from trafficmock.matching import MatchBudget, MatchResult, PatternCache
from trafficmock.wire.outbound import HistoryResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trafficmock.history.store import History
    from trafficmock.wire.inbound import HistoryQuery

MOST_BYTES = 32 * 2**20
"""An answer stops before the entry that would make it larger."""


SLICE_SECONDS = 0.002
"""Worked at once, give or take one entry: a decision may be due at any moment."""


def answer(history: History, query: HistoryQuery) -> Iterator[HistoryResult | None]:
    """List the entries of a test and a matcher, newest first.

    A predicate matches nothing: only the worker itself could run it. Nor does a pattern that
    would take too many steps; see :mod:`trafficmock.matching.patterns.match_cost`.

    :returns: nothing but ``None`` after each step of the work, and the answer at its end.
    """
    matcher = compile_route(query.matcher) if query.matcher is not UNSET else None
    test_id = query.test_id if query.test_id is not UNSET else None
    since = query.since if query.since is not UNSET else None
    entries: list[Raw] = []
    size = 0
    pattern_cache = PatternCache()
    for entry in history.requests.query(Query(test_id=test_id, from_=since)):
        yield None
        request = entry.record.request
        if matcher is not None:
            asked = request.url, request.method, entry.record.client_id
            result = matcher.judge(*asked, MatchBudget(pattern_cache))
            if result is not MatchResult.YES:
                continue
        text = entry.to_json()
        size += len(text)
        if size > MOST_BYTES:
            break
        entries.append(Raw(text))
    yield HistoryResult(query.query_id, entries, history.capture)
