"""Runs handlers on the reactor; calls of the test return Deferreds.

Twisted tests get Deferreds where asyncio tests get coroutines: they can be awaited, and they have
``addCallback``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, maybeDeferred, succeed
from twisted.logger import Logger
from twisted.python.failure import Failure

from trafficmock.testing.objects.async_request import AsyncRequest
from trafficmock.testing.objects.async_response import AsyncResponse
from trafficmock.testing.objects.async_route import AsyncRoute
from trafficmock.testing.objects.async_traffic_mock import AsyncTrafficMock
from trafficmock.testing.objects.async_websocket_route import AsyncWebSocketRoute
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.ports import Adapter, Done

T = TypeVar("T")


def as_deferred(promise: Promise[T]) -> Deferred[T]:
    """Return a promise as a Deferred; cancelling it ends the wait."""
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


def _deferred(method: Callable[..., Coroutine[Any, Any, Any]]) -> Any:
    @functools.wraps(method)
    def call(*args: Any, **options: Any) -> Deferred[Any]:
        return Deferred.fromCoroutine(method(*args, **options))

    return call


class DeferredRequest(AsyncRequest):
    """A request of the application, in Twisted tests."""

    all_headers = _deferred(AsyncRequest.all_headers)
    headers_array = _deferred(AsyncRequest.headers_array)
    header_value = _deferred(AsyncRequest.header_value)
    sizes = _deferred(AsyncRequest.sizes)


class DeferredResponse(AsyncResponse):
    """A response, in Twisted tests."""

    body = _deferred(AsyncResponse.body)
    text = _deferred(AsyncResponse.text)
    json = _deferred(AsyncResponse.json)


class DeferredTrafficMock(AsyncTrafficMock):
    """The mocks of a Twisted test."""

    requests = _deferred(AsyncTrafficMock.requests)


class TwistedAdapter(Adapter):
    """Runs the functions of a test on the reactor's thread, which the session also uses."""

    log = Logger()
    request_class = DeferredRequest
    response_class = DeferredResponse
    route_class = AsyncRoute
    socket_class = AsyncWebSocketRoute

    def __init__(self, reactor: Any) -> None:
        self.post = reactor.callFromThread

    def call(self, function: Callable[[], T]) -> T:
        """Call a function of the session."""
        return function()

    def wait_for(self, function: Callable[[], Promise[T]]) -> Deferred[T]:
        """Call a function of the session, and return its promise as a Deferred."""
        try:
            return as_deferred(function())
        except Exception:  # noqa: BLE001 - it becomes the failure of the Deferred
            failed: Deferred[T] = Deferred()
            failed.errback(Failure())
            return failed

    def settled(self, promise: Promise[None]) -> Deferred[None]:
        return as_deferred(promise)

    def done(self) -> Deferred[None]:
        return succeed(None)

    def run(self, start: Callable[[], Any], done: Done) -> None:
        """Call ``start``, wait for its Deferred or coroutine, then call ``done``."""

        def failed(failure: Failure) -> None:
            error = failure.value
            if error is not None:
                error = error.with_traceback(failure.getTracebackObject())
            done(None, error)

        running: Deferred[Any] = maybeDeferred(start)
        running.addCallbacks(lambda result: done(result, None), failed)
        running.addErrback(self._report)

    def _report(self, failure: Failure) -> None:
        self.log.failure("a handler's end could not be handled", failure=failure)
