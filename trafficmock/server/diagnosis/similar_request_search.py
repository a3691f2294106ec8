"""Finds the requests that came instead of those that a test waited for, or had a route for.

It ends a wait that is overdue.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import islice

from attrs import define
from msgspec import UNSET, UnsetType, structs

from trafficmock.core.effects import Overdue
from trafficmock.core.ownership.differences import (
    LONGEST_TEXT,
    ComparedMatcher,
    ComparedRequest,
    Rank,
)
from trafficmock.history.query import Query
from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.rest_records import RequestRecord, upstream_error
from trafficmock.history.store import History
from trafficmock.matching import MatchBudget, PatternCache
from trafficmock.matching.url_parts import shown_url, url_parts
from trafficmock.server.diagnosis.diagnosis_texts import Unmet, overdue_text, request_text
from trafficmock.server.diagnosis.similar_request import SimilarRequest, SimilarRequests
from trafficmock.server.recorded_content import recorded_content
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher
from trafficmock.wire.waits.wait_messages import WaitOverdue

NO_REASON = "no reason given"
"""In the place of why the server gave no complete response."""

MOST_MATCHERS = 100
"""The most matchers of one query that are answered, the first ones."""

MOST_COMPARED = 200
"""The most different requests that are compared with each matcher, the newest ones."""

MOST_NAMED = 8
"""The most requests that are named for one matcher, the nearest ones."""


@define
class _Alike:
    """Requests with the same facts.

    :param entry: the entry of the newest one.
    """

    entry: RequestEntry
    count: int = 1

    def compared(self) -> ComparedRequest:
        """Return the newest one, to be compared."""
        line = self.entry.record.request
        client_id, parts = self.entry.record.client_id, url_parts(line.url)
        content = recorded_content(self.entry)
        return ComparedRequest(line.method, line.url, client_id, parts, content)


def overdue_steps(history: History, effect: Overdue) -> Iterator[WaitOverdue | None]:
    """Compare the requests of the history with what a test waited for.

    :returns: yields ``None`` after each comparison, and the answer at the end.
    """
    unmet = [effect.unmet]
    (found,) = yield from compare(history, unmet, effect.kind, effect.since, effect.own)
    yield WaitOverdue(effect.wait_id, overdue_text(effect, found, history.capture))


def compare(
    history: History,
    unmet: Sequence[UnmetMatcher],
    kind: Unmet,
    since: int | None,
    own: frozenset[str],
) -> Generator[None, None, list[SimilarRequests]]:
    """Compare the requests of the history with matchers; yield after each comparison.

    :param since: the earliest time of a request, in epoch milliseconds.
    :param own: as of :class:`~trafficmock.core.effects.Diagnose`.
    :returns: for each of the first :data:`MOST_MATCHERS` what came instead.
    """
    unmet = unmet[:MOST_MATCHERS]
    alike: dict[object, _Alike] = {}
    # Requests with the same facts may have different bodies.
    apart = any(each.matcher.conditions for each in unmet)
    for entry in history.requests.query(Query(from_=since)):
        yield None
        record = entry.record
        key = record.id if apart else _facts(record)
        if key in alike:
            alike[key].count += 1
        elif len(alike) < MOST_COMPARED:
            alike[key] = _Alike(entry)
    cache = PatternCache()
    comparisons = [_Comparison(asked, kind, own, MatchBudget(cache)) for asked in unmet]
    for each in alike.values():
        # What is read of the body is kept for all matchers, and for one request at a time.
        request = each.compared()
        for comparison in comparisons:
            comparison.add(each, request)
            yield None
    return [comparison.result() for comparison in comparisons]


class _Comparison:
    """The comparison of requests with one matcher.

    :param own: the tests whose requests are listed also if they do not match; empty for all.
    """

    def __init__(
        self, asked: UnmetMatcher, kind: Unmet, own: frozenset[str], budget: MatchBudget
    ) -> None:
        self._kind = kind
        self._matcher = ComparedMatcher(asked.matcher)
        self._since = asked.since
        self._own = own
        self._budget = budget
        self._ranked: list[tuple[Rank, SimilarRequest]] = []

    def add(self, alike: _Alike, request: ComparedRequest) -> None:
        """Compare requests, the newest first."""
        differs = self._matcher.differences(request, self._budget)
        if not differs and self._kind == "route":
            differs = self._matcher.origin_differences(request, alike.entry.elsewhere, self._budget)
        undecided = bool(differs) and differs[-1].part == "predicate"
        if undecided:
            differs.pop()
        record = alike.entry.record
        foreign = bool(self._own) and record.has_context is True and record.test_id not in self._own
        if foreign and (differs or undecided):
            return
        rank = self._matcher.rank(request, differs)
        before = self._since is not UNSET and record.timestamp < self._since
        row = SimilarRequest(
            id=record.id,
            method=record.request.method,
            url=shown_url(record.request.url, LONGEST_TEXT),
            client_id=record.client_id,
            differs=differs,
            count=alike.count,
            undecided=undecided,
            before=before,
            foreign=foreign,
            status=_status(record),
            failure=_failure(record),
            title=record.title,
            path=record.path,
        )
        self._ranked.append((rank, row))

    def result(self) -> SimilarRequests:
        # Of several with one rank the newest comes first, because the sort is stable.
        rows = [row for _, row in sorted(self._ranked, key=lambda each: each[0])]
        more = sum(row.count for row in islice(rows, MOST_NAMED, None))
        named = [
            structs.replace(row, text=request_text(self._kind, row)) for row in rows[:MOST_NAMED]
        ]
        return SimilarRequests(named, more)


def _facts(record: RequestRecord) -> tuple[object, ...]:
    """Return the facts by which requests are alike."""
    return (
        *(record.request.method, record.request.url, record.client_id, record.action),
        *(record.test_id, record.has_context, _status(record), _failure(record)),
    )


def _status(record: RequestRecord) -> int | UnsetType:
    response = record.outcome.response
    return UNSET if response is UNSET else response.status


def _failure(record: RequestRecord) -> str | UnsetType:
    error = upstream_error(record.events)
    return UNSET if error is UNSET else " ".join(error.split()) or NO_REASON
