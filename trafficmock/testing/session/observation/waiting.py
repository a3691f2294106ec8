"""The waits of a test for requests and responses, and its queries of the traffic so far."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import TestEndedError, WaitTimeoutError
from trafficmock.testing.promise import Promise, mapped
from trafficmock.testing.session.arguments.callables import check_handler, describe
from trafficmock.testing.session.arguments.url_matchers import URLPattern, make_matcher
from trafficmock.testing.session.observation.diagnosis import describe_seen
from trafficmock.wire.inbound import DiagnosisQuery
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.similar_requests import UnmetMatcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trafficmock.testing.session.arguments.url_matchers import Matcher
    from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
    from trafficmock.testing.session.ports import Cancel, Done
    from trafficmock.testing.session.session import Session
    from trafficmock.wire.outbound import DiagnosisResult

DEFAULT_TIMEOUT_MS = 30_000.0

_PREDICATE = SerializedMatcher(predicate=True)

Timeout = float | timedelta | None
"""Milliseconds or a duration; 0 is no limit, ``None`` the default of 30 s."""


def milliseconds(timeout: Timeout) -> float:
    if timeout is None:
        return DEFAULT_TIMEOUT_MS
    if isinstance(timeout, timedelta):
        return timeout.total_seconds() * 1000
    return timeout


Kind = Literal["request", "response"]
Test = Callable[[Any, "Done"], None]
"""Tests a request or response; it calls ``Done`` with the result, perhaps later."""


@define(eq=False)
class Waiter:
    """One wait for a request or response; requests from before it began do not count.

    :param what: the condition, for the text of errors.
    :param test: the condition.
    :param is_too_old: returns whether a request came before the wait began.
    :param timeout: milliseconds; 0 for no limit.
    :param began: when it began, in microseconds of this process's monotonic clock.
    :param matcher: the condition, if it is one on the URL.
    :param ready: resolved when no request can be missed.
    :param promise: the request or response that matches.
    """

    kind: Kind
    what: str
    test: Test
    is_too_old: Callable[[RequestState], bool]
    timeout: float
    began: int
    matcher: Matcher | None = None
    ready: Promise[None] = field(factory=Promise)
    promise: Promise[Any] = field(factory=Promise)
    stop_clock: Cancel | None = None
    _queue: deque[Any] = field(factory=deque, repr=False)
    _busy: bool = False

    @property
    def glob(self) -> str | None:
        """The condition, if it is a glob."""
        url = None if self.matcher is None else self.matcher.url
        return url if isinstance(url, str) else None

    @property
    def unmet(self) -> SerializedMatcher:
        """The condition for the proxy, which cannot judge a predicate."""
        return _PREDICATE if self.matcher is None else self.matcher.wire

    def offer(self, found: RequestState | ResponseState) -> None:
        """Queue a request or response for the test; they are tested one by one."""
        self._queue.append(found)
        if not self._busy:
            self._next()

    def _next(self) -> None:
        self._busy = False
        if not self._queue or self.promise.done:
            return
        found = self._queue.popleft()
        self._busy = True

        def done(result: Any, error: BaseException | None) -> None:
            if error is not None:
                self.promise.reject(error)
            elif result:
                self.promise.resolve(found)
            self._next()

        self.test(found, done)


def timed_out(waiter: Waiter, seen: str) -> WaitTimeoutError:
    """Return the error of a wait that timed out.

    :param seen: the requests that came instead, as text.
    """
    text = f"Timeout {waiter.timeout:g}ms exceeded while waiting for {waiter.kind} {waiter.what}"
    return WaitTimeoutError(f"{text}\n{seen}")


_LAST_LOOK_SECONDS = 1.0
"""The time limit of the query of the proxy for the error of a wait."""


@define
class Observation:
    """The queries of one test for past traffic, and its waits for later traffic."""

    session: Session
    _open: list[Waiter] = field(init=False, factory=list)

    # Traffic so far

    def requests(self, matcher: Matcher | None) -> Promise[list[RequestState]]:
        """Return a promise of the matching requests since the test began, oldest first.

        Requests with the context of another test are left out.

        :param matcher: ``None`` for all.
        """
        foreign = self.session.is_foreign
        return mapped(
            self.all(),
            lambda seen: [each for each in seen if _wanted(matcher, each) and not foreign(each.id)],
        )

    def all(self) -> Promise[list[RequestState]]:
        """Return a promise of all requests since the test began, oldest first."""
        session = self.session
        # The subscription first: requests that are not in the history yet are observed.
        if not session.ended:
            session.subscribe()
        return mapped(session.client.query(session.started_at), session.recorded.merge)

    def diagnosis(self, unmet: Sequence[tuple[SerializedMatcher, int]]) -> Promise[DiagnosisResult]:
        """Return a promise of the requests that came instead of others, and of the applications.

        :param unmet: routes that no request met and waits that timed out: the condition, and the
            beginning in microseconds of this process's monotonic clock.
        """
        session = self.session
        query = DiagnosisQuery(
            session.client.link.new_id(),
            [UnmetMatcher(matcher, self._proxy_time(began)) for matcher, began in unmet],
            UNSET if session.context.id is None else session.id,
            UNSET if session.started_at is None else session.started_at,
        )
        return session.client.ask(("diagnosis", query.query_id), query)

    def _proxy_time(self, moment: int) -> int | UnsetType:
        """Return a time of this process's monotonic clock as the proxy's epoch milliseconds.

        Of a proxy on another machine it is early by the time that its answer took.
        """
        clock, started_at = self.session.clock, self.session.started_at
        if clock is None or started_at is None:
            return UNSET
        return started_at + clock.elapsed(moment) // 1000

    # Waits

    def expect(self, kind: Kind, wanted: Any, timeout: float) -> Waiter:
        """Begin a wait for a later request or response.

        :param wanted: a glob, a ``re.Pattern``, a URLPattern, or a predicate over the request or
            response.
        :param timeout: milliseconds; 0 for no limit.
        :raises TestEndedError: the test has ended.
        :raises UsageError: ``wanted`` is none of these.
        :raises ConnectionLostError: there is no connection to the proxy.
        """
        session = self.session
        if session.ended:
            raise TestEndedError("the test has ended")
        waiter = self._waiter(kind, wanted, timeout)
        self._open.append(waiter)
        waiter.promise.watch(lambda _: self._forget(waiter))
        waiter.promise.on_cancel = lambda: waiter.promise.reject(
            TestEndedError("the wait was given up")
        )
        if timeout > 0:
            waiter.stop_clock = session.client.link.call_later(
                timeout / 1000, lambda: self._expire(waiter)
            )
        try:
            session.subscribe().watch(lambda done: _pass_on(done, waiter))
        except Exception as error:
            waiter.promise.reject(error)
            raise
        return waiter

    def _waiter(self, kind: Kind, wanted: Any, timeout: float) -> Waiter:
        session = self.session
        began = session.client.link.monotonic_us()
        matcher, test = None, partial(session.adapter.run_predicate, wanted)
        if isinstance(wanted, str | re.Pattern | URLPattern):
            matcher = make_matcher(wanted, base_url=session.base_url)
            test = partial(_test_url, matcher)
        else:
            check_handler(wanted, "the request or response, or else a URL")
        what = describe(wanted, "predicate") if matcher is None else str(matcher)
        return Waiter(kind, what, test, self._too_old(began), timeout, began, matcher)

    def _too_old(self, began: int) -> Callable[[RequestState], bool]:
        """Return a test for requests from before now, by order and by the proxy's clock.

        A message about such a request may still be under way to this process.

        :param began: now, in microseconds of this process's monotonic clock.
        """
        session = self.session
        since = session.traffic.sequence

        def is_too_old(request: RequestState) -> bool:
            clock = session.clock
            return request.sequence <= since or (
                clock is not None and clock.is_before(request.seen_at, began)
            )

        return is_too_old

    def _expire(self, waiter: Waiter) -> None:
        def fail(diagnosis: DiagnosisResult | None) -> None:
            stop()
            observed = list(self.session.traffic.requests.values())
            waiter.promise.reject(timed_out(waiter, describe_seen(waiter, diagnosis, observed)))

        def answered(answer: Promise[DiagnosisResult]) -> None:
            fail(None if answer.error is not None else answer.value)

        stop = self.session.client.link.call_later(_LAST_LOOK_SECONDS, lambda: fail(None))
        try:
            self.diagnosis([(waiter.unmet, waiter.began)]).watch(answered)
        except Exception:  # noqa: BLE001 - without the proxy, report what this process observed
            fail(None)

    # What comes

    def request_came(self, request: RequestState) -> None:
        """Offer a request to the open waits."""
        self._offer("request", request, request)

    def request_matched(self, request: RequestState) -> None:
        """Offer a request to the waits that took it for older than themselves by the proxy's clock.

        A handler of this test decides about it only now, so its application is still waiting, and
        the request belongs to what the test did just before the wait, in the same turn.
        """
        older = [each for each in self._open if each.is_too_old(request)]
        request.seen_at = UNSET
        for waiter in older:
            if waiter.kind == "request" and not waiter.is_too_old(request):
                waiter.offer(request)

    def response_came(self, response: ResponseState) -> None:
        """Offer a response to the waits that were open when its request came."""
        self._offer("response", response, response.request)

    def end(self, error: BaseException | None = None) -> None:
        for waiter in list(self._open):
            text = f"the test ended while waiting for {waiter.kind} {waiter.what}"
            waiter.ready.resolve(None)
            waiter.promise.reject(error or TestEndedError(text))

    def _offer(
        self, kind: Kind, found: RequestState | ResponseState, request: RequestState
    ) -> None:
        for waiter in list(self._open):
            if waiter.kind == kind and not waiter.is_too_old(request):
                waiter.offer(found)

    def _forget(self, waiter: Waiter) -> None:
        self._open.remove(waiter)
        if waiter.stop_clock is not None:
            waiter.stop_clock()


def _test_url(matcher: Matcher, found: Any, done: Done) -> None:
    done(matcher.matches_url(found.url), None)


def _wanted(matcher: Matcher | None, request: RequestState) -> bool:
    return matcher is None or matcher.matches(request.url, request.method, request.client_id)


def _pass_on(done: Promise[Any], waiter: Waiter) -> None:
    if done.error is not None:
        waiter.ready.reject(done.error)
        waiter.promise.reject(done.error)
    else:
        waiter.ready.resolve(None)
