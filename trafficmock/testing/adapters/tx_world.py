"""Runs handlers on the reactor, and gives Deferreds."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import Deferred, maybeDeferred, succeed
from twisted.logger import Logger
from twisted.python.failure import Failure

from trafficmock.testing.adapters.calling_world import CallingWorld
from trafficmock.testing.adapters.surroundings import Showing
from trafficmock.testing.adapters.tx_views import DeferredRequest, DeferredResponse
from trafficmock.testing.objects.route import AsyncRoute
from trafficmock.testing.objects.websocket_route import AsyncWebSocketRoute

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.session.ports import Done
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.routed_request import RoutedRequest

T = TypeVar("T")


def as_deferred(promise: Promise[T]) -> Deferred[T]:
    """Give a promise as a Deferred; cancelling it ends the wait."""
    given_up = False

    def settled(done: Promise[T]) -> None:
        if deferred.called or given_up:
            return
        if done.error is not None:
            deferred.errback(Failure(done.error))
        else:
            deferred.callback(done.value)

    def cancelled(_: Deferred[T]) -> None:
        nonlocal given_up
        given_up = True
        promise.cancel()

    deferred: Deferred[T] = Deferred(cancelled)
    promise.watch(settled)
    return deferred


class TwistedSurroundings(Showing):
    """Reaches the session directly: it lives here too."""

    request_class = DeferredRequest
    response_class = DeferredResponse

    def call(self, function: Callable[[], T]) -> T:
        """Call something of the session."""
        return function()

    def wait(self, promise: Promise[T]) -> Deferred[T]:
        """Give a promise as a Deferred."""
        return as_deferred(promise)

    def wait_for(self, function: Callable[[], Promise[T]]) -> Deferred[T]:
        """Call something of the session that gives a promise, and give that as a Deferred."""
        try:
            return as_deferred(function())
        except Exception:  # noqa: BLE001 - a Deferred brings its errors itself
            failed: Deferred[T] = Deferred()
            failed.errback(Failure())
            return failed

    def done(self) -> Deferred[None]:
        """Give something to await."""
        return succeed(None)


class TwistedWorld(CallingWorld):
    """Calls a test's functions on the reactor."""

    route_class = AsyncRoute
    socket_class = AsyncWebSocketRoute

    def __init__(self, reactor: Any, surroundings: TwistedSurroundings) -> None:
        super().__init__(surroundings)
        self._reactor = reactor

    def _watch(self, route: Any, routed: RoutedRequest) -> None:
        # From the reactor: a finalizer may run in the midst of anything, on any thread.
        post = self._reactor.callFromThread
        weakref.finalize(route, post, routed.abandoned).atexit = False

    def _run(self, start: Callable[[], Any], done: Done) -> None:
        def failed(failure: Failure) -> None:
            error = failure.value
            if error is not None:
                error = error.with_traceback(failure.getTracebackObject())
            done(None, error)

        running: Deferred[Any] = maybeDeferred(start)
        running.addCallbacks(lambda result: done(result, None), failed)
        running.addErrback(_log.failure_of_ours)


class _Log:
    """Says what must not happen: that the session itself fails."""

    log = Logger()

    def failure_of_ours(self, failure: Failure) -> None:
        self.log.failure("a handler's end could not be acted on", failure=failure)


_log = _Log()
