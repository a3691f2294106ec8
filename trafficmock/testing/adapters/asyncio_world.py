"""Runs handlers on an asyncio event loop: the test's own, or the connection's."""

from __future__ import annotations

import asyncio
import inspect
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from trafficmock.testing.adapters.calling_world import CallingWorld
from trafficmock.testing.adapters.surroundings import Showing
from trafficmock.testing.objects.request import AsyncRequest
from trafficmock.testing.objects.response import AsyncResponse
from trafficmock.testing.objects.route import AsyncRoute
from trafficmock.testing.objects.websocket_route import AsyncWebSocketRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from trafficmock.testing.adapters.background_connection import BackgroundConnection
    from trafficmock.testing.session.ports import Done
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.routed_request import RoutedRequest

T = TypeVar("T")


class Finished:
    """Something to await that is done; nobody minds when it is not awaited."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


class AsyncioSurroundings(Showing):
    """Reaches the session from coroutines of any loop.

    :param loop: where handlers run; else the loop of the latest call.
    """

    request_class = AsyncRequest
    response_class = AsyncResponse

    def __init__(
        self, background: BackgroundConnection, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        self.background = background
        self.loop = loop

    def call(self, function: Callable[[], T]) -> T:
        """Call something of the session."""
        return self.background.call(function)

    def wait(self, promise: Promise[T]) -> asyncio.Future[T]:
        """Give a promise as a future of the running loop."""
        return self.wait_for(lambda: promise)

    def wait_for(self, function: Callable[[], Promise[T]]) -> asyncio.Future[T]:
        """Call something of the session that gives a promise, and give that as a future."""
        if self.loop is not self.background.loop:
            self.loop = asyncio.get_running_loop()
        return asyncio.wrap_future(self.background.future(function))

    def done(self) -> Finished:
        """Give something to await."""
        return Finished()


class AsyncioWorld(CallingWorld):
    """Calls a test's functions on the loop of the surroundings, known by then."""

    route_class = AsyncRoute
    socket_class = AsyncWebSocketRoute

    def __init__(self, background: BackgroundConnection, surroundings: AsyncioSurroundings) -> None:
        super().__init__(surroundings)
        self._background = background
        self._asyncio = surroundings
        self._tasks: set[asyncio.Future[Any]] = set()

    def _watch(self, route: Any, routed: RoutedRequest) -> None:
        watch_route(route, routed, self._background)

    def _run(self, start: Callable[[], Any], done: Done) -> None:
        def say(result: Any, error: BaseException | None) -> None:
            self._background.post(lambda: done(result, error))

        loop = self._asyncio.loop or self._background.loop
        try:
            loop.call_soon_threadsafe(self._start, start, say)
        except RuntimeError as error:
            say(None, error)

    def _start(self, start: Callable[[], Any], say: Done) -> None:
        try:
            result = start()
        except BaseException as error:  # noqa: BLE001 - it goes to the test's errors
            say(None, error)
            return
        if inspect.isawaitable(result):
            task = asyncio.ensure_future(_finish(result, say))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            say(result, None)


async def _finish(awaitable: Any, say: Done) -> None:
    try:
        result = await awaitable
    except BaseException as error:  # noqa: BLE001 - it goes to the test's errors
        say(None, error)
    else:
        say(result, None)


def watch_route(route: Any, routed: RoutedRequest, background: BackgroundConnection) -> None:
    """Tell the routed request when nobody holds its route any more."""
    weakref.finalize(route, background.post, routed.abandoned).atexit = False
