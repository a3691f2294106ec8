"""Answers the queries of workers about the history, a little in each turn of the reactor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from attrs import define, field
from msgspec import UNSET, Raw
from twisted.internet.defer import Deferred, DeferredLock, maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from trafficmock.core.effects import (
    AnswerQuery,
    AnswerReport,
    Diagnose,
    MakeReport,
    Overdue,
    Redact,
    WriteRecording,
)
from trafficmock.core.ownership.compared_content import values_for
from trafficmock.core.ownership.registry import compile_route
from trafficmock.history.query import Query
from trafficmock.history.rest_records import encode
from trafficmock.history.store import History
from trafficmock.matching import MatchBudget, MatchResult, PatternCache
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.diagnosis.similar_request_search import overdue_steps
from trafficmock.server.diagnosis.traffic_of_test import diagnosis_steps
from trafficmock.server.recorded_content import recorded_content
from trafficmock.server.reports.made_reports import making_steps
from trafficmock.server.reports.reported_traffic import report_steps
from trafficmock.server.reports.slow_work import SlowWork
from trafficmock.server.reports.written_marks import redact_steps
from trafficmock.server.reports.written_recordings import recording_steps
from trafficmock.wire.inbound import HistoryQuery, Message
from trafficmock.wire.outbound import HistoryResult, ProxyError, RecordingPiece

HistoryEffect = (
    AnswerQuery | AnswerReport | Diagnose | MakeReport | Overdue | Redact | WriteRecording
)
Steps = Iterator[Message | SlowWork[Any] | None]

_log = Logger()

MOST_BYTES = 32 * 2**20
"""The largest size of all entries in one answer; further ones are left out."""

MOST_WAITING = 100
"""The most queries of one connection that wait for their answer."""

TOO_MANY = "too_many_queries"

_TOO_MANY_TEXT = (
    f"This query is not answered, because {MOST_WAITING} others of this connection still wait for "
    "their answer. Await the answers before you ask again: each call of requests() asks once."
)

SLICE_SECONDS = 0.002
"""Time of one turn of the reactor for queries, so that decisions are not delayed."""


@define(eq=False)
class WorkerQueries:
    """Works on the queries of all connections, for :data:`SLICE_SECONDS` in each reactor turn.

    The queries of one connection are answered one by one, and none begins while the peer does not
    read the answers before. So there is at most one answer of each connection in memory, or one
    piece of it, besides its send queue. Connections take turns after each step.

    :param clock: schedules the next turn.
    :param monotonic: returns monotonic seconds.
    :param service: names this start of the service, for reports.
    :param redactor: replaces secrets in reports, by the same marks for all workers.
    :param shown_url: returns a URL as a worker, by its connection, may print it.
    :param is_open: returns whether a connection, by its id, is still open.
    :param send: sends an answer to a connection.
    :param apart: runs a function that may take long, for example in a thread; one at a time.
    """

    history: History
    clock: IReactorTime
    monotonic: Callable[[], float]
    service: str = field(kw_only=True, default="")
    redactor: Redactor = field(kw_only=True, factory=Redactor)
    shown_url: Callable[[str, str], str] = field(kw_only=True, default=lambda _, url: url)
    is_open: Callable[[str], bool] = field(kw_only=True)
    send: Callable[[str, Message], None] = field(kw_only=True)
    apart: Callable[..., Deferred[Any]] = field(kw_only=True, default=maybeDeferred)
    _waiting: dict[str, deque[HistoryEffect]] = field(factory=dict, init=False)
    _working: deque[tuple[str, Steps]] = field(factory=deque, init=False)
    _one: DeferredLock = field(factory=DeferredLock, init=False)
    _active: set[str] = field(factory=set, init=False)
    """The connections with a query that is being answered."""
    _paused: set[str] = field(factory=set, init=False)
    _halted: dict[str, Steps] = field(factory=dict, init=False)
    """The answers whose next piece waits until the peer reads."""
    _data: dict[str, dict[str, bytearray]] = field(factory=dict, init=False, repr=False)
    """What has come of the data of reports, by connection and query."""
    _runs: bool = field(default=False, init=False)

    def answer(self, effect: HistoryEffect) -> None:
        """Begin a query; it is answered within this call if it takes less than a slice.

        A query above :data:`MOST_WAITING` is answered with an error, but every overdue wait ends.
        """
        connection_id = effect.connection_id
        if not self.is_open(connection_id):
            return
        waiting = self._waiting.setdefault(connection_id, deque())
        if len(waiting) >= MOST_WAITING and not isinstance(effect, Overdue):
            test_id = getattr(effect.query, "test_id", UNSET)
            self.send(connection_id, ProxyError(TOO_MANY, _TOO_MANY_TEXT, test_id))
            return
        waiting.append(effect)
        self._begin(connection_id)

    def pause(self, connection_id: str) -> None:
        """Begin no query of a connection whose peer does not read."""
        self._paused.add(connection_id)

    def resume(self, connection_id: str) -> None:
        """Go on with the queries of a connection, because its peer has read."""
        self._paused.discard(connection_id)
        if connection_id in self._halted:
            self._go_on(connection_id, self._halted.pop(connection_id))
        else:
            self._begin(connection_id)

    def forget(self, connection_id: str) -> None:
        """Drop the queries of a connection that has ended."""
        self._waiting.pop(connection_id, None)
        self._halted.pop(connection_id, None)
        self._data.pop(connection_id, None)
        self._paused.discard(connection_id)
        self._active.discard(connection_id)

    def _begin(self, connection_id: str) -> None:
        """Begin the next query of a connection, if there is one and its peer reads."""
        waiting = self._waiting.get(connection_id)
        if not waiting or connection_id in self._paused or connection_id in self._active:
            return
        self._active.add(connection_id)
        steps = self._steps(waiting.popleft())
        if not waiting:
            del self._waiting[connection_id]
        self._go_on(connection_id, steps)

    def _go_on(self, connection_id: str, steps: Steps) -> None:
        self._working.append((connection_id, steps))
        if not self._runs:
            self._runs = True
            self._work()

    def _steps(self, effect: HistoryEffect) -> Steps:
        if isinstance(effect, Overdue):
            return overdue_steps(self.history, effect)
        if isinstance(effect, Diagnose):
            return diagnosis_steps(self.history, effect)
        if isinstance(effect, AnswerReport):
            return report_steps(self.history, effect, service=self.service, redactor=self.redactor)
        if isinstance(effect, AnswerQuery):
            shown = partial(self.shown_url, effect.connection_id)
            return history_steps(self.history, effect.query, shown)
        return self._steps_of_files(effect)

    def _steps_of_files(self, effect: MakeReport | Redact | WriteRecording) -> Steps:
        """Return the steps of an answer to a worker that is about to write files."""
        if isinstance(effect, MakeReport):
            return making_steps(effect.query, self._data.setdefault(effect.connection_id, {}))
        if isinstance(effect, Redact):
            return redact_steps(effect, self.redactor)
        return recording_steps(effect, self.redactor)

    def _work(self) -> None:
        until = self.monotonic() + SLICE_SECONDS
        while self._working:
            connection_id, steps = self._working.popleft()
            if connection_id in self._active:
                self._work_on(connection_id, steps)
            if self._working and self.monotonic() >= until:
                self.clock.callLater(0, self._work)
                return
        self._runs = False

    def _work_on(self, connection_id: str, steps: Steps) -> None:
        result = next(steps)
        if result is None:
            self._working.append((connection_id, steps))
            return
        if isinstance(result, SlowWork):
            done = self._one.run(self.apart, result.run)
            done.addCallbacks(
                lambda _: self._go_on(connection_id, steps),
                self._failed,
                errbackArgs=(connection_id,),
            )
            return
        # If the answer fills the send queue, `pause` is called within `send`.
        self.send(connection_id, result)
        if isinstance(result, RecordingPiece) and result.done is UNSET:
            if connection_id in self._paused:
                self._halted[connection_id] = steps
            else:
                self._working.append((connection_id, steps))
            return
        self._active.discard(connection_id)
        self._begin(connection_id)

    def _failed(self, failure: Failure, connection_id: str) -> None:
        _log.failure("a query of a worker failed", failure)
        self._active.discard(connection_id)
        self._begin(connection_id)


def history_steps(
    history: History, query: HistoryQuery, shown_url: Callable[[str], str]
) -> Iterator[HistoryResult | None]:
    """Find the entries of a query, newest first.

    A predicate matches nothing, because only the worker itself can call it. Nor does a pattern that
    takes too many steps; see :mod:`trafficmock.matching.patterns.match_cost`.

    :param shown_url: returns a URL as the worker may print it.
    :returns: yields ``None`` after each entry, and the answer at the end.
    """
    matchers = [query.matcher] if query.matcher is not UNSET else []
    matcher = compile_route(matchers[0]) if matchers else None
    test_id = query.test_id if query.test_id is not UNSET else None
    since = query.since if query.since is not UNSET else None
    entries: list[Raw] = []
    values: list[Raw] = []
    shown: list[str] = []
    size = 0
    left_out = False
    pattern_cache = PatternCache()
    for entry in history.requests.query(Query(test_id=test_id, from_=since)):
        yield None
        request = entry.record.request
        if matcher is not None:
            asked = request.url, request.method, entry.record.client_id
            result = matcher.judge(*asked, MatchBudget(pattern_cache))
            if result is not MatchResult.YES:
                continue
            if matcher.beside is not None and not matcher.beside.hold(recorded_content(entry)):
                continue
        text = encode({"id": entry.id}) if query.only_ids is True else entry.to_json()
        found = values_for(matchers, partial(recorded_content, entry))
        placed = b"" if found is UNSET else encode(found)
        size += len(text) + len(placed)
        if size > MOST_BYTES:
            left_out = True
            break
        entries.append(Raw(text))
        printed = request.url if query.only_ids is True else shown_url(request.url)
        shown.append("" if printed == request.url else printed)
        if placed:
            values.append(Raw(placed))
    yield HistoryResult(
        query.query_id,
        entries,
        history.capture,
        values or UNSET,
        left_out or UNSET,
        shown if any(shown) else UNSET,
    )
