"""The waits of a test for requests and responses, and its queries of the traffic so far."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field
from msgspec import UNSET

from trafficmock.testing.errors import TestEndedError, WaitTimeoutError
from trafficmock.testing.promise import Promise, mapped, settled
from trafficmock.testing.session.arguments.callables import check_handler, describe
from trafficmock.testing.session.arguments.url_matchers import URLPattern, make_matcher
from trafficmock.testing.session.observation.diagnosis import describe_seen
from trafficmock.wire.features import AGENTS, SUBSCRIBE

if TYPE_CHECKING:
    from trafficmock.testing.session.arguments.url_matchers import Matcher
    from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
    from trafficmock.testing.session.ports import Cancel, Done
    from trafficmock.testing.session.session import Session
    from trafficmock.wire.outbound import ConnectedClient

DEFAULT_TIMEOUT_MS = 30_000.0

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
    :param glob: the condition, if it is a glob.
    :param wants: the condition on the URL, if there is no other.
    :param ready: resolved when no request can be missed.
    :param promise: the request or response that matches.
    """

    kind: Kind
    what: str
    test: Test
    is_too_old: Callable[[RequestState], bool]
    timeout: float
    glob: str | None = None
    wants: Callable[[str], bool] | None = None
    ready: Promise[None] = field(factory=Promise)
    promise: Promise[Any] = field(factory=Promise)
    stop_clock: Cancel | None = None
    _queue: deque[Any] = field(factory=deque, repr=False)
    _busy: bool = False

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
"""The time limit of the queries of the proxy for the error of a wait."""


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
        if SUBSCRIBE not in session.client.features:
            # This proxy reports all traffic to all workers: after a barrier, it has all come.
            requests = session.traffic.requests
            return mapped(session.client.barrier(), lambda _: list(requests.values()))
        # The subscription first: requests that are not in the history yet are observed.
        if not session.ended:
            session.subscribe()
        return mapped(session.client.query(session.started_at), session.recorded.merge)

    def agents(self) -> Promise[list[ConnectedClient] | None]:
        """Return a promise of the connected applications; ``None`` without the feature."""
        client = self.session.client
        if AGENTS not in client.features:
            return settled(None)
        return mapped(client.agents(), lambda answer: answer.agents)

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
        if isinstance(wanted, str | re.Pattern | URLPattern):
            matcher = make_matcher(wanted, base_url=session.base_url)

            def test(found: Any, done: Done) -> None:
                done(matcher.matches_url(found.url), None)

            glob = wanted if isinstance(wanted, str) else None
            return Waiter(
                kind,
                str(matcher),
                test,
                self._too_old(),
                timeout,
                glob,
                matcher.matches_url,
            )
        check_handler(wanted, "the request or response, or else a URL")
        return Waiter(
            kind,
            describe(wanted, "predicate"),
            partial(session.adapter.run_predicate, wanted),
            self._too_old(),
            timeout,
        )

    def _too_old(self) -> Callable[[RequestState], bool]:
        """Return a test for requests from before now, by order and by the proxy's clock.

        A message about such a request may still be under way to this process.
        """
        session = self.session
        since, began = session.traffic.sequence, session.client.link.monotonic_us()

        def is_too_old(request: RequestState) -> bool:
            clock = session.clock
            return request.sequence <= since or (
                clock is not None and clock.is_before(request.seen_at, began)
            )

        return is_too_old

    def _expire(self, waiter: Waiter) -> None:
        agents: list[ConnectedClient] | None = None

        def fail(found: list[RequestState]) -> None:
            stop()
            capture = self.session.recorded.capture
            note = f"(the proxy's history keeps only: {capture})" if capture else ""
            text = describe_seen(waiter, found, note, agents)
            waiter.promise.reject(timed_out(waiter, text))

        def give_up() -> None:
            fail(list(self.session.traffic.requests.values()))

        def requests_known(seen: Promise[list[RequestState]]) -> None:
            if seen.error is not None:
                give_up()
            else:
                fail(seen.value)

        def agents_known(answer: Promise[list[ConnectedClient] | None]) -> None:
            nonlocal agents
            agents = None if answer.error is not None else answer.value

        stop = self.session.client.link.call_later(_LAST_LOOK_SECONDS, give_up)
        try:
            self.agents().watch(agents_known)
            self.requests(None).watch(requests_known)
        except Exception:  # noqa: BLE001 - without the proxy, report what this process observed
            give_up()

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


def _wanted(matcher: Matcher | None, request: RequestState) -> bool:
    return matcher is None or matcher.matches(request.url, request.method, request.client_id)


def _pass_on(done: Promise[Any], waiter: Waiter) -> None:
    if done.error is not None:
        waiter.ready.reject(done.error)
        waiter.promise.reject(done.error)
    else:
        waiter.ready.resolve(None)
