"""Runs handlers on an asyncio event loop: the test's own, or the connection's."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from trafficmock.testing.adapters.background_connection import BackgroundConnection
from trafficmock.testing.errors import UsageError
from trafficmock.testing.objects.async_request import AsyncRequest
from trafficmock.testing.objects.async_response import AsyncResponse
from trafficmock.testing.objects.async_route import AsyncRoute
from trafficmock.testing.objects.async_websocket_route import AsyncWebSocketRoute
from trafficmock.testing.promise import Promise
from trafficmock.testing.self_attachment import blocked_client, is_attached
from trafficmock.testing.session.ports import Adapter, Done

BLOCKED_SECONDS = 1.0
"""How long a client may block the event loop of a test that has to answer a request."""

_BLOCKED = (
    "the handler runs on the event loop of this test, which a blocking client has blocked for 1 s "
    "(at {}): neither could go on. Give the response as data, as by mock(url, json={{...}}), or "
    "call the client on a thread, as by asyncio.to_thread"
)

_NO_LOOP = (
    "this call is awaited on asyncio, and no loop of asyncio runs here. A test on trio (anyio's "
    "backend) calls the blocking API: with mocks(...) of trafficmock.testing.sync"
)

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

    def __init__(
        self, background: BackgroundConnection, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        self._background = background
        self._loop = loop
        self._thread = 0
        self._tasks: set[asyncio.Future[Any]] = set()
        self.call = background.call
        self.post = background.post

    def wait_for(self, function: Callable[[], Promise[T]]) -> asyncio.Future[T]:
        """Call a function of the session, and return its promise as a future of this loop.

        :raises UsageError: no loop of asyncio runs here.
        """
        if self._loop is not self._background.loop:
            try:
                self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
            except RuntimeError:
                raise UsageError(_NO_LOOP) from None
        return asyncio.wrap_future(self._background.future(function))

    def settled(self, promise: Promise[None]) -> asyncio.Future[None] | Finished:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            # On a thread without a loop nobody can await it.
            return Finished()
        waited = asyncio.wrap_future(self._background.future(lambda: promise))
        # If nobody awaits it, its error is that of the handler.
        waited.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        return waited

    def done(self) -> Finished:
        return Finished()

    def run(self, start: Callable[[], Any], done: Done) -> None:
        """Call ``start`` on the loop, await its result if it is awaitable, then call ``done``."""

        def finish(result: Any, error: BaseException | None) -> None:
            self.post(lambda: done(result, error))

        background = self._background
        loop = self._loop or background.loop
        begun: list[bool] = []

        def begin() -> None:
            if not begun:
                begun.append(True)
                self._start(start, finish)

        def check() -> None:
            if not begun and (place := blocked_client(self._thread)) is not None:
                begun.append(False)
                finish(None, UsageError(_BLOCKED.format(place)))

        try:
            loop.call_soon_threadsafe(begin)
        except RuntimeError as error:
            finish(None, error)
            return
        if is_attached() and loop is not background.loop:
            background.post(lambda: background.call_later(BLOCKED_SECONDS, check))

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
