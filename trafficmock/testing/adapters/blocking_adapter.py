"""Runs plain handlers on threads of their own, and ``async`` ones on the connection's thread."""

from __future__ import annotations

import inspect
import queue
import threading
from collections.abc import Callable
from typing import Any

from trafficmock.testing.adapters.asyncio_adapter import AsyncioAdapter
from trafficmock.testing.adapters.background_connection import BackgroundConnection
from trafficmock.testing.objects.blocking.request import Request
from trafficmock.testing.objects.blocking.response import Response
from trafficmock.testing.objects.blocking.route import Route
from trafficmock.testing.objects.blocking.websocket_route import WebSocketRoute
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.ports import Adapter, Done


class BlockingAdapter(Adapter):
    """Runs plain functions on threads, so that none has to wait for the test's thread."""

    request_class = Request
    response_class = Response
    route_class = Route
    socket_class = WebSocketRoute

    def __init__(self, background: BackgroundConnection, threads: HandlerThreads) -> None:
        self._background, self._threads = background, threads
        self._asyncio = AsyncioAdapter(background, background.loop)
        self.call = background.call
        self.post = background.post
        self.wait_for = background.wait_for

    def settled(self, promise: Promise[None]) -> None:
        # On the connection's thread, nobody may wait.
        if not self._background.on_thread():
            self.wait_for(lambda: promise)

    heed = settled

    def done(self) -> None:
        """Return ``None``: the call is finished."""

    def run(self, start: Callable[[], Any], done: Done) -> None:
        """Call ``start`` on a thread, then ``done``."""

        def work() -> None:
            result, failed = None, None
            try:
                result = start()
            except BaseException as error:  # noqa: BLE001 - it goes to the test's errors
                failed = error
            self.post(lambda: done(result, failed))

        self._threads.run(work)

    def _of(self, function: Any) -> Adapter:
        return self._asyncio if is_async(function) else self


def is_async(function: Any) -> bool:
    """Return whether a call of ``function`` returns a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method is looked at, not called
    )


class HandlerThreads:
    """A pool of threads that grows with the number of running handlers.

    The threads are daemons: a handler that never returns does not keep the process alive.
    """

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None]) -> None:
        """Run a function on an idle thread, or on a new one."""
        with self._lock:
            start = self._idle == 0
            if not start:
                self._idle -= 1
        self._work.put(work)
        if start:
            threading.Thread(target=self._loop, name="trafficmock-handler", daemon=True).start()

    def _loop(self) -> None:
        while True:
            work = self._work.get()
            work()
            # Without this the idle thread would keep a reference to the handler's route.
            del work
            with self._lock:
                self._idle += 1
