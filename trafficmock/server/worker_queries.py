"""Answers the queries of workers about the history, a little in each turn of the reactor."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import UNSET, Raw

from trafficmock.core.effects import Diagnose
from trafficmock.core.ownership.registry import compile_route
from trafficmock.history.query import Query
from trafficmock.matching import MatchBudget, MatchResult, PatternCache
from trafficmock.server.similar_request_search import diagnosis_steps
from trafficmock.wire.outbound import HistoryResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twisted.internet.interfaces import IReactorTime

    from trafficmock.core.effects import AnswerQuery
    from trafficmock.history.store import History
    from trafficmock.wire.inbound import HistoryQuery, Message

MOST_BYTES = 32 * 2**20
"""The largest size of all entries in one answer; further ones are left out."""

SLICE_SECONDS = 0.002
"""Time of one turn of the reactor for queries, so that decisions are not delayed."""


@define(eq=False)
class WorkerQueries:
    """Works on all queries in rotation, for :data:`SLICE_SECONDS` in each turn of the reactor.

    :param clock: schedules the next turn.
    :param monotonic: returns monotonic seconds.
    :param is_open: returns whether a connection, by its id, is still open.
    :param send: sends an answer to a connection.
    """

    history: History
    clock: IReactorTime
    monotonic: Callable[[], float]
    is_open: Callable[[str], bool] = field(kw_only=True)
    send: Callable[[str, Message], None] = field(kw_only=True)
    _answers: deque[tuple[str, Iterator[Message | None]]] = field(factory=deque, init=False)

    def answer(self, effect: AnswerQuery | Diagnose) -> None:
        """Begin a query; it is answered within this call if it takes less than a slice."""
        self._answers.append((effect.connection_id, self._steps(effect)))
        if len(self._answers) == 1:
            self._work()

    def _steps(self, effect: AnswerQuery | Diagnose) -> Iterator[Message | None]:
        if isinstance(effect, Diagnose):
            return diagnosis_steps(self.history, effect)
        return history_steps(self.history, effect.query)

    def _work(self) -> None:
        until = self.monotonic() + SLICE_SECONDS
        while self._answers:
            connection_id, steps = self._answers[0]
            gone = not self.is_open(connection_id)
            result = None if gone else next(steps)
            if result is not None:
                self.send(connection_id, result)
            if gone or result is not None:
                self._answers.popleft()
            else:
                self._answers.rotate(-1)
            if self._answers and self.monotonic() >= until:
                self.clock.callLater(0, self._work)
                return


def history_steps(history: History, query: HistoryQuery) -> Iterator[HistoryResult | None]:
    """Find the entries of a query, newest first.

    A predicate matches nothing, because only the worker itself can call it. Nor does a pattern that
    takes too many steps; see :mod:`trafficmock.matching.patterns.match_cost`.

    :returns: yields ``None`` after each entry, and the answer at the end.
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
