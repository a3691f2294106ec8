"""Runs handlers on an asyncio event loop: the test's own, or the connection's."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from trafficmock.testing.objects.request import AsyncRequest
from trafficmock.testing.objects.response import AsyncResponse
from trafficmock.testing.objects.route import AsyncRoute
from trafficmock.testing.objects.route_handle import AsyncRouteHandle
from trafficmock.testing.objects.stream import AsyncStream
from trafficmock.testing.objects.websocket_route import AsyncWebSocketRoute
from trafficmock.testing.session.ports import Adapter

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from trafficmock.testing.adapters.background_connection import BackgroundConnection
    from trafficmock.testing.promise import Promise
    from trafficmock.testing.session.ports import Done

T = TypeVar("T")


class Finished:
    """A finished awaitable; unlike a coroutine, it gives no warning when it is not awaited."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


class AsyncioAdapter(Adapter):
    """Runs the functions of a test on an event loop; the test may call from any loop.

    :param loop: the loop where handlers run; by default that of the test's latest call.
    """

    request_class = AsyncRequest
    response_class = AsyncResponse
    route_class = AsyncRoute
    socket_class = AsyncWebSocketRoute
    stream_class = AsyncStream
    route_handle_class = AsyncRouteHandle

    def __init__(
        self, background: BackgroundConnection, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        self._background = background
        self._loop = loop
        self._tasks: set[asyncio.Future[Any]] = set()
        self.call = background.call
        self.post = background.post

    def wait_for(self, function: Callable[[], Promise[T]]) -> asyncio.Future[T]:
        """Call a function of the session, and return its promise as a future of this loop."""
        if self._loop is not self._background.loop:
            self._loop = asyncio.get_running_loop()
        return asyncio.wrap_future(self._background.future(function))

    def done(self) -> Finished:
        return Finished()

    def run(self, start: Callable[[], Any], done: Done) -> None:
        """Call ``start`` on the loop, await its result if it is awaitable, then call ``done``."""

        def finish(result: Any, error: BaseException | None) -> None:
            self.post(lambda: done(result, error))

        loop = self._loop or self._background.loop
        try:
            loop.call_soon_threadsafe(self._start, start, finish)
        except RuntimeError as error:
            finish(None, error)

    def _start(self, start: Callable[[], Any], finish: Done) -> None:
        try:
            result = start()
        except BaseException as error:  # noqa: BLE001 - it goes to the test's errors
            finish(None, error)
            return
        if inspect.isawaitable(result):
            task = asyncio.ensure_future(_await(result, finish))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            finish(result, None)


async def _await(awaitable: Any, finish: Done) -> None:
    try:
        result = await awaitable
    except BaseException as error:  # noqa: BLE001 - it goes to the test's errors
        finish(None, error)
    else:
        finish(result, None)
