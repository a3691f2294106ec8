"""Runs handlers on the reactor, and gives Deferreds."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import Deferred, maybeDeferred, succeed
from twisted.logger import Logger
from twisted.python.failure import Failure

from trafficmock.testing.request import AsyncRequest
from trafficmock.testing.response import AsyncResponse
from trafficmock.testing.route import AsyncRoute
from trafficmock.testing.socket_route import AsyncWebSocketRoute

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.exchange import Exchange
    from trafficmock.testing.promise import Promise
    from trafficmock.testing.request import RequestState
    from trafficmock.testing.response import ResponseState
    from trafficmock.testing.websocket import SocketState
    from trafficmock.testing.world import Done

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


class TwistedSurroundings:
    """Reaches the session directly: it lives here too."""

    def request(self, state: RequestState) -> AsyncRequest:
        """Show a request."""
        view = state.views.get(AsyncRequest) or AsyncRequest(state, self)
        return state.views.setdefault(AsyncRequest, view)  # type: ignore[no-any-return] # what the key says

    def response(self, state: ResponseState) -> AsyncResponse:
        """Show a response."""
        view = state.views.get(AsyncResponse) or AsyncResponse(state, self.request(state.request))
        return state.views.setdefault(AsyncResponse, view)  # type: ignore[no-any-return] # what the key says

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


class TwistedWorld:
    """Calls a test's functions on the reactor."""

    def __init__(self, reactor: Any, surroundings: TwistedSurroundings) -> None:
        self._reactor = reactor
        self._surroundings = surroundings

    def handle(self, handler: Any, exchange: Exchange, done: Done) -> None:
        """Run a route handler."""

        def start() -> Any:
            route = AsyncRoute(exchange, self._surroundings)
            # From the reactor: a finalizer may run in the midst of anything, on any thread.
            post = self._reactor.callFromThread
            weakref.finalize(route, post, exchange.abandoned).atexit = False
            return handler(route, route.request)

        self._run(start, done)

    def handle_socket(self, handler: Any, socket: SocketState, done: Done) -> None:
        """Run a WebSocket handler."""
        self._run(lambda: handler(AsyncWebSocketRoute(socket.page, self._surroundings)), done)

    def test_request(self, predicate: Any, request: RequestState, done: Done) -> None:
        """Ask a predicate."""
        self._run(lambda: predicate(self._surroundings.request(request)), done)

    def test_response(self, predicate: Any, response: ResponseState, done: Done) -> None:
        """Ask a predicate."""
        self._run(lambda: predicate(self._surroundings.response(response)), done)

    def call(self, function: Any, args: tuple[Any, ...], done: Done) -> None:
        """Call any other function."""
        self._run(lambda: function(*args), done)

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
