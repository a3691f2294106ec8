"""The waits of a test for requests and responses, and its queries of the traffic so far."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import zip_longest
from math import ceil, inf
from typing import TYPE_CHECKING, Any

from attrs import define, field
from msgspec import UNSET, Struct, UnsetType, json

from trafficmock.testing.errors import TestEndedError, UsageError, WaitTimeoutError
from trafficmock.testing.promise import Promise, chained, mapped
from trafficmock.testing.session.arguments.callables import (
    check_handler,
    describe,
    outcome_of,
    readable,
)
from trafficmock.testing.session.arguments.url_matchers import Matcher, URLPattern, make_matcher
from trafficmock.testing.session.observation.diagnosis import hints
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
from trafficmock.wire.inbound import DiagnosisQuery
from trafficmock.wire.outbound import DiagnosisResult, HistoryResult
from trafficmock.wire.payloads.serialized_matcher import PlacedValues, SerializedMatcher
from trafficmock.wire.payloads.unmet_routes import UnmetRoute
from trafficmock.wire.waits.wait_messages import (
    WaitCancel,
    WaitJudge,
    WaitJudged,
    WaitKind,
    WaitMet,
    WaitOverdue,
    WaitRegister,
)

if TYPE_CHECKING:
    from trafficmock.testing.session.session import Session

DEFAULT_TIMEOUT_MS = 30_000.0

_PREDICATE = SerializedMatcher(predicate=True)

NO_CONDITIONS: Mapping[str, Any] = {}

Timeout = float | timedelta | None
"""Milliseconds or a duration; 0 is no limit, ``None`` the default of 30 s."""


def milliseconds(timeout: Timeout) -> float:
    """Return a timeout in milliseconds.

    :raises UsageError: it is not a duration, or it is negative.
    """
    if timeout is None:
        return DEFAULT_TIMEOUT_MS
    given = timeout.total_seconds() * 1000 if isinstance(timeout, timedelta) else timeout
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not given >= 0:
        raise UsageError(f"timeout is milliseconds or a timedelta, 0 for no limit, not {timeout!r}")
    return given


_placed = json.Decoder(list[PlacedValues])


class _Identified(Struct):
    """An entry of the history."""

    id: str


@define(eq=False)
class Waiter:
    """One wait for a request or response, which the proxy ends.

    :param what: the condition, for the text of errors.
    :param wanted: the argument of the test, which is a predicate where there is no ``matcher``.
    :param timeout: milliseconds; 0 for no limit.
    :param matcher: the condition, if it is one on the URL.
    :param ready: resolved when no request can be missed.
    :param ended: the proxy's answer.
    :param promise: the request or response that met the wait.
    """

    kind: WaitKind
    what: str
    wanted: Any
    timeout: float
    matcher: Matcher | None
    id: str
    ready: Promise[None] = field(factory=Promise)
    ended: Promise[WaitMet | WaitOverdue] = field(factory=Promise)
    promise: Promise[Any] = field(factory=Promise)

    @property
    def glob(self) -> str | None:
        """The condition, if it is a glob."""
        url = None if self.matcher is None else self.matcher.url
        return url if isinstance(url, str) else None

    @property
    def has_limit(self) -> bool:
        """Whether the wait is overdue at some time."""
        return 0 < self.timeout < inf


def timed_out(waiter: Waiter, seen: str) -> WaitTimeoutError:
    """Return the error of a wait that timed out.

    :param seen: the requests that came instead, as text.
    """
    text = f"Timeout {waiter.timeout:g}ms exceeded while waiting for {waiter.kind} {waiter.what}"
    return WaitTimeoutError(f"{text}\n{seen}")


@define
class Observation:
    """The queries of one test for past traffic, and its waits for later traffic."""

    session: Session
    _open: dict[str, Waiter] = field(init=False, factory=dict)

    # Traffic so far

    def requests(self, matcher: Matcher | None) -> Promise[list[RequestState]]:
        """Return a promise of the matching requests since the test began, oldest first.

        Requests with the context of another test are left out.

        :param matcher: ``None`` for all.
        """
        foreign = self.session.is_foreign
        seen = mapped(
            self.all(),
            lambda seen: [each for each in seen if _wanted(matcher, each) and not foreign(each.id)],
        )
        if matcher is None or matcher.wire.conditions is UNSET:
            return seen
        # Only the proxy compares them.
        meeting = self.session.client.query(
            self.session.started_at,
            SerializedMatcher(conditions=matcher.wire.conditions),
            only_ids=True,
        )
        return chained(seen, lambda found: mapped(meeting, partial(_among, matcher, found)))

    def all(self) -> Promise[list[RequestState]]:
        """Return a promise of all requests since the test began, oldest first."""
        session = self.session
        # The subscription first: requests that are not in the history yet are observed.
        if not session.ended:
            session.subscribe()
        return mapped(session.client.query(session.started_at), session.recorded.merge)

    def diagnosis(
        self, unmet: Sequence[UnmetRoute], *, only_unmet: bool
    ) -> Promise[DiagnosisResult]:
        """Return a promise of what came to the test, and what came instead of other requests.

        :param unmet: routes that no request met.
        :param only_unmet: whether nothing is said but for them.
        """
        session = self.session
        query = DiagnosisQuery(
            session.client.link.new_id(),
            session.id,
            list(unmet),
            {route.id: str(route.matcher) for route in session.http.known.values()},
            dict(session.http.decisions),
            UNSET if session.started_at is None else session.started_at,
            only_unmet,
        )
        return session.client.ask(("diagnosis", query.query_id), query)

    def proxy_time(self, moment: int) -> int | UnsetType:
        """Return a time of this process's monotonic clock as the proxy's epoch milliseconds.

        Of a proxy on another machine it is early by the time that its answer took.
        """
        clock, started_at = self.session.clock, self.session.started_at
        if clock is None or started_at is None:
            return UNSET
        return started_at + clock.elapsed(moment) // 1000

    # Waits

    def expect(
        self, kind: WaitKind, wanted: Any, timeout: float, match: Mapping[str, Any] = NO_CONDITIONS
    ) -> Waiter:
        """Begin a wait for a later request or response.

        :param wanted: a glob, a ``re.Pattern``, a URLPattern, a mapping, or a predicate over the
            request or response.
        :param timeout: milliseconds; 0 for no limit.
        :param match: ``method``, ``client_id`` and the arguments of :class:`.MatchArguments`.
        :raises TestEndedError: the test has ended.
        :raises UsageError: ``wanted`` is none of these.
        :raises ConnectionLostError: there is no connection to the proxy.
        """
        session = self.session
        if session.ended:
            raise TestEndedError("the test has ended")
        register = partial(self._registration, began=session.client.link.monotonic_us())
        waiter = self._waiter(kind, wanted, timeout, match)
        session.subscribe().watch(lambda done: _pass_on(done, waiter))
        # The proxy keeps the time: without an answer some time later it does not work any more.
        waiter.ended = session.client.ask(
            ("wait:register", waiter.id),
            register(waiter),
            beyond=timeout / 1000 if waiter.has_limit else inf,
        )
        self._open[waiter.id] = waiter
        waiter.ended.watch(lambda _: self._end(waiter))
        waiter.promise.on_cancel = lambda: self._give_up(
            waiter, TestEndedError("the wait was given up")
        )
        return waiter

    def _waiter(
        self, kind: WaitKind, wanted: Any, timeout: float, match: Mapping[str, Any]
    ) -> Waiter:
        session = self.session
        matcher = None
        if isinstance(wanted, str | re.Pattern | URLPattern | Mapping):
            conditions = dict(match)
            names = {name: conditions.pop(name, None) for name in ("method", "client_id")}
            matcher = make_matcher(wanted, base_url=session.base_url, match=conditions, **names)
        elif match:
            raise UsageError("conditions go with a URL; compare in the predicate instead")
        else:
            check_handler(wanted, "the request or response, or else a URL")
        what = describe(wanted, "predicate") if matcher is None else str(matcher)
        return Waiter(kind, what, wanted, timeout, matcher, session.client.link.new_id())

    def _registration(self, waiter: Waiter, began: int) -> WaitRegister:
        """Return the message that registers a wait.

        :param began: its beginning, in microseconds of this process's monotonic clock.
        """
        session = self.session
        latest = next(reversed(session.traffic.requests), None)
        return WaitRegister(
            waiter.id,
            session.id,
            waiter.kind,
            _PREDICATE if waiter.matcher is None else waiter.matcher.wire,
            ceil(waiter.timeout) if waiter.has_limit else UNSET,
            UNSET if session.clock is None else session.clock.time_of(began),
            UNSET if latest is None else latest,
        )

    def judge(self, message: WaitJudge) -> None:
        """Answer whether a request or response meets a wait."""
        waiter = self._open.get(message.wait_id)
        if waiter is None:
            return

        def done(result: Any, error: BaseException | None) -> None:
            if waiter.ended.done:
                return
            # The truth of a result may have code of its own, such as that of an array.
            met, wrong = outcome_of(lambda: bool(result))
            if (wrong := error or wrong) is not None:
                self._give_up(waiter, wrong)
                return
            self.session.send(WaitJudged(waiter.id, message.request_id, met=bool(met)))

        found: Any = self._found(waiter, message.request_id)
        if waiter.matcher is None:
            self.session.adapter.run_predicate(waiter.wanted, found, done)
        else:
            done(*outcome_of(partial(_is_met, waiter.matcher, found.url, message.values)))

    def _found(self, waiter: Waiter, request_id: str) -> RequestState | ResponseState | None:
        state = self.session.traffic.requests[request_id]
        return state if waiter.kind == "request" else state.existing()

    def _give_up(self, waiter: Waiter, error: BaseException) -> None:
        waiter.ended.reject(readable(error))
        self.session.send(WaitCancel(waiter.id))

    def _end(self, waiter: Waiter) -> None:
        del self._open[waiter.id]
        if waiter.ended.error is not None:
            waiter.promise.reject(waiter.ended.error)
        elif isinstance(waiter.ended.value, WaitMet):
            waiter.promise.resolve(self._found(waiter, waiter.ended.value.request_id))
        else:
            lines = [*hints(waiter.glob, self.session.base_url), waiter.ended.value.text]
            waiter.promise.reject(timed_out(waiter, "\n".join(lines)))

    def end(self, error: BaseException | None = None) -> None:
        for waiter in list(self._open.values()):
            text = f"the test ended while waiting for {waiter.kind} {waiter.what}"
            waiter.ready.resolve(None)
            waiter.ended.reject(error or TestEndedError(text))


def _is_met(matcher: Matcher, url: str, values: list[PlacedValues] | UnsetType) -> bool:
    return matcher.matches_url(url) and matcher.matches_values(values)


def _wanted(matcher: Matcher | None, request: RequestState) -> bool:
    return matcher is None or matcher.matches(request.url, request.method, request.client_id)


def _pass_on(done: Promise[Any], waiter: Waiter) -> None:
    if done.error is not None:
        waiter.ready.reject(done.error)
        waiter.ended.reject(done.error)
    else:
        waiter.ready.resolve(None)


def _among(matcher: Matcher, seen: list[RequestState], found: HistoryResult) -> list[RequestState]:
    """Return the requests that meet the conditions, with the values that the functions accept.

    :raises UsageError: the proxy cannot send all values.
    """
    if found.truncated is True:
        raise UsageError(
            "the values for the functions are too large for one answer: "
            "filter requests() in the test"
        )
    ids = [json.decode(entry, type=_Identified).id for entry in found.entries]
    values = [_placed.decode(each) for each in found.values or ()]
    met = dict(zip_longest(ids, values, fillvalue=UNSET))
    return [each for each in seen if each.id in met and matcher.matches_values(met[each.id])]
