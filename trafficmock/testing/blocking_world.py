"""Runs plain handlers on threads beside the test's, and ``async`` ones on the connection's."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from trafficmock.testing.asyncio_world import AsyncioSurroundings, AsyncioWorld, watch_route
from trafficmock.testing.request import Request
from trafficmock.testing.response import Response
from trafficmock.testing.route import Route
from trafficmock.testing.socket_route import WebSocketRoute

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.background import Background
    from trafficmock.testing.exchange import Exchange
    from trafficmock.testing.pool import Pool
    from trafficmock.testing.promise import Promise
    from trafficmock.testing.request import RequestState
    from trafficmock.testing.response import ResponseState
    from trafficmock.testing.websocket import SocketState
    from trafficmock.testing.world import Done

T = TypeVar("T")


class BlockingSurroundings:
    """Reaches the session from any thread."""

    def __init__(self, background: Background) -> None:
        self.background = background

    def request(self, state: RequestState) -> Request:
        """Show a request."""
        view = state.views.get(Request) or Request(state, self)
        return state.views.setdefault(Request, view)  # type: ignore[no-any-return] # what the key says

    def response(self, state: ResponseState) -> Response:
        """Show a response."""
        view = state.views.get(Response) or Response(state, self.request(state.request))
        return state.views.setdefault(Response, view)  # type: ignore[no-any-return] # what the key says

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


class BlockingWorld:
    """Calls a test's functions so that nothing waits for the test's own thread."""

    def __init__(self, background: Background, pool: Pool) -> None:
        self._background = background
        self._pool = pool
        self._surroundings = BlockingSurroundings(background)
        self._asyncio = AsyncioWorld(background, AsyncioSurroundings(background, background.loop))

    def handle(self, handler: Any, exchange: Exchange, done: Done) -> None:
        """Run a route handler."""
        if is_async(handler):
            self._asyncio.handle(handler, exchange, done)
            return

        def start() -> Any:
            route = Route(exchange, self._surroundings)
            watch_route(route, exchange, self._background)
            return handler(route, route.request)

        self._run(start, done)

    def handle_socket(self, handler: Any, socket: SocketState, done: Done) -> None:
        """Run a WebSocket handler."""
        if is_async(handler):
            self._asyncio.handle_socket(handler, socket, done)
        else:
            self._run(lambda: handler(WebSocketRoute(socket.page, self._surroundings)), done)

    def test_request(self, predicate: Any, request: RequestState, done: Done) -> None:
        """Ask a predicate."""
        if is_async(predicate):
            self._asyncio.test_request(predicate, request, done)
        else:
            self._run(lambda: predicate(self._surroundings.request(request)), done)

    def test_response(self, predicate: Any, response: ResponseState, done: Done) -> None:
        """Ask a predicate."""
        if is_async(predicate):
            self._asyncio.test_response(predicate, response, done)
        else:
            self._run(lambda: predicate(self._surroundings.response(response)), done)

    def call(self, function: Any, args: tuple[Any, ...], done: Done) -> None:
        """Call any other function."""
        if is_async(function):
            self._asyncio.call(function, args, done)
        else:
            self._run(lambda: function(*args), done)

    def _run(self, start: Callable[[], Any], done: Done) -> None:
        def work() -> None:
            result, failed = None, None
            try:
                result = start()
            except BaseException as error:  # noqa: BLE001 - it goes to the test's errors
                failed = error
            self._background.post(lambda: done(result, failed))

        self._pool.run(work)


def is_async(function: Any) -> bool:
    """Tell whether calling it gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method is looked at, not called
    )
