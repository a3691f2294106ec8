"""Runs plain handlers on threads beside the test's, and ``async`` ones on the connection's."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from trafficmock.testing.adapters.asyncio_world import (
    AsyncioSurroundings,
    AsyncioWorld,
    watch_route,
)
from trafficmock.testing.adapters.calling_world import CallingWorld
from trafficmock.testing.adapters.surroundings import Showing
from trafficmock.testing.objects.request import Request
from trafficmock.testing.objects.response import Response
from trafficmock.testing.objects.route import Route
from trafficmock.testing.objects.websocket_route import WebSocketRoute

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.adapters.background_connection import BackgroundConnection
    from trafficmock.testing.adapters.handler_threads import HandlerThreads
    from trafficmock.testing.session.ports import Done
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.request_state import RequestState, ResponseState
    from trafficmock.testing.session.routed_request import RoutedRequest
    from trafficmock.testing.session.websocket_routes import MockedWebSocket

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""

T = TypeVar("T")


class BlockingSurroundings(Showing):
    """Reaches the session from any thread."""

    request_class = Request
    response_class = Response

    def __init__(self, background: BackgroundConnection) -> None:
        self.background = background

    def call(self, function: Callable[[], T]) -> T:
        """Call something of the session."""
        return self.background.call(function)

    def wait(self, promise: Promise[T]) -> T:
        """Block until a promise is settled."""
        return self.background.wait_for(lambda: promise)

    def wait_for(self, function: Callable[[], Promise[T]]) -> T:
        """Call something of the session that gives a promise, and block until that is settled."""
        return self.background.wait_for(function)

    def done(self) -> None:
        """Give nothing: it is done."""


class ThreadWorld(CallingWorld):
    """Calls plain functions on threads, so that nothing waits for the test's own."""

    route_class = Route
    socket_class = WebSocketRoute

    def __init__(self, background: BackgroundConnection, pool: HandlerThreads) -> None:
        super().__init__(BlockingSurroundings(background))
        self._background = background
        self._pool = pool

    def _watch(self, route: Any, routed: RoutedRequest) -> None:
        watch_route(route, routed, self._background)

    def _run(self, start: Callable[[], Any], done: Done) -> None:
        def work() -> None:
            result, failed = None, None
            try:
                result = start()
            except BaseException as error:  # noqa: BLE001 - it goes to the test's errors
                failed = error
            self._background.post(lambda: done(result, failed))

        self._pool.run(work)


class BlockingWorld:
    """Calls each function where its kind belongs: on a thread, or on the connection's loop."""

    def __init__(self, background: BackgroundConnection, pool: HandlerThreads) -> None:
        self._threads = ThreadWorld(background, pool)
        self._asyncio = AsyncioWorld(background, AsyncioSurroundings(background, background.loop))

    def handle(self, handler: Any, routed: RoutedRequest, done: Done) -> None:
        """Run a route handler."""
        self._of(handler).handle(handler, routed, done)

    def handle_socket(self, handler: Any, socket: MockedWebSocket, done: Done) -> None:
        """Run a WebSocket handler."""
        self._of(handler).handle_socket(handler, socket, done)

    def test_request(self, predicate: Any, request: RequestState, done: Done) -> None:
        """Ask a predicate."""
        self._of(predicate).test_request(predicate, request, done)

    def test_response(self, predicate: Any, response: ResponseState, done: Done) -> None:
        """Ask a predicate."""
        self._of(predicate).test_response(predicate, response, done)

    def call(self, function: Any, args: tuple[Any, ...], done: Done) -> None:
        """Call any other function."""
        self._of(function).call(function, args, done)

    def _of(self, function: Any) -> CallingWorld:
        return self._asyncio if is_async(function) else self._threads


def is_async(function: Any) -> bool:
    """Tell whether calling it gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method is looked at, not called
    )
