"""Waits for requests and responses that are still to come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field

from trafficmock.testing.errors import TestEndedError, WaitTimeoutError
from trafficmock.testing.session.promise import Promise

if TYPE_CHECKING:
    from trafficmock.testing.adapters.world import Cancel, Done
    from trafficmock.testing.objects.response import ResponseState
    from trafficmock.testing.session.request_state import RequestState

Kind = Literal["request", "response"]
Test = Callable[[Any, "Done"], None]
"""Asks about a request or response; the answer may come later."""


@define(eq=False)
class Waiter:
    """One wait; it looks only at requests after it began.

    :param what: how failures call what is waited for.
    :param wants: judges a URL, where that is all that matters.
    :param since: the last request that is too old.
    :param timeout: milliseconds; 0 for none.
    :param ready: kept when nothing can be missed any more.
    """

    kind: Kind
    what: str
    test: Test
    since: int
    timeout: float
    glob: str | None = None
    wants: Callable[[str], bool] | None = None
    ready: Promise[None] = field(factory=Promise)
    promise: Promise[Any] = field(factory=Promise)
    stop_clock: Cancel | None = None
    _queue: deque[Any] = field(factory=deque)
    _busy: bool = False

    def offer(self, found: RequestState | ResponseState) -> None:
        """Look at something that came; one after the other, in order."""
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


@define
class Waiters:
    """The open waits of one test."""

    _open: list[Waiter] = field(factory=list)

    def add(self, waiter: Waiter) -> None:
        """Begin a wait; it is forgotten when it is settled."""
        self._open.append(waiter)
        waiter.promise.watch(lambda _: self._forget(waiter))

    def request_came(self, request: RequestState) -> None:
        """Offer a request to those who wait for one."""
        self._offer("request", request, request.sequence)

    def response_came(self, response: ResponseState) -> None:
        """Offer a response to those who waited when its request came."""
        self._offer("response", response, response.request.sequence)

    def end(self, error: BaseException | None = None) -> None:
        """Fail all waits."""
        for waiter in list(self._open):
            text = f"the test ended while waiting for {waiter.kind} {waiter.what}"
            waiter.ready.resolve(None)
            waiter.promise.reject(error or TestEndedError(text))

    def _offer(self, kind: Kind, found: RequestState | ResponseState, sequence: int) -> None:
        for waiter in list(self._open):
            if waiter.kind == kind and sequence > waiter.since:
                waiter.offer(found)

    def _forget(self, waiter: Waiter) -> None:
        self._open.remove(waiter)
        if waiter.stop_clock is not None:
            waiter.stop_clock()


def timed_out(waiter: Waiter, seen: str) -> WaitTimeoutError:
    """Make the error of a wait in which nothing came, with what came instead."""
    text = f"Timeout {waiter.timeout:g}ms exceeded while waiting for {waiter.kind} {waiter.what}"
    return WaitTimeoutError(f"{text}\n{seen}")
