"""An asyncio event loop on a thread of its own, with calls from other threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from trafficmock.errors import TrafficMockError
from trafficmock.testing.errors import ConnectionLostError, UsageError
from trafficmock.testing.promise import Promise

T = TypeVar("T")


class LoopThread:
    """Base of a class whose state is used only on the thread of its event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="trafficmock", daemon=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._live())
        finally:
            self.loop.close()

    async def _live(self) -> None:
        """Run on the thread; the thread ends when this returns."""
        raise NotImplementedError

    def on_thread(self) -> bool:
        """Return whether the caller runs on this thread."""
        return threading.current_thread() is self._thread

    def post(self, function: Callable[[], object]) -> None:
        """Have the thread call a function soon; without effect when the thread has ended."""
        try:
            self.loop.call_soon_threadsafe(function)
        except RuntimeError:
            return

    def call(self, function: Callable[[], T]) -> T:
        """Call a function on the thread, and return its result.

        :raises ConnectionLostError: the thread has ended.
        """
        if self.on_thread():
            return function()
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
                future.set_exception(error)

        self._post_or_fail(work)
        return result_of(future)

    def wait_for(self, function: Callable[[], Promise[T]]) -> T:
        """Call a function on the thread, and block until the promise that it returns is settled.

        :raises UsageError: the caller runs on this thread, which would wait for ever.
        :raises ConnectionLostError: the thread has ended.
        """
        if self.on_thread():
            raise UsageError(
                "this would block the connection, on whose thread async handlers of blocking "
                "tests run: only a plain handler may wait, on a thread of its own"
            )
        return result_of(self.future(function))

    def future(self, function: Callable[[], Promise[T]]) -> Future[T]:
        """Call a function on the thread, and return the promise that it returns as a future.

        Cancelling the future cancels the promise.

        :raises ConnectionLostError: the thread has ended.
        """
        future: Future[T] = Future()

        def settled(promise: Promise[T]) -> None:
            if not future.set_running_or_notify_cancel():
                return
            if promise.error is not None:
                future.set_exception(promise.error)
            else:
                future.set_result(promise.value)

        def work() -> None:
            try:
                promise = function()
            except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
                if future.set_running_or_notify_cancel():
                    future.set_exception(error)
                return
            future.add_done_callback(lambda _: self._give_up(future, promise))
            promise.watch(settled)

        self._post_or_fail(work)
        return future

    def _give_up(self, future: Future[T], promise: Promise[T]) -> None:
        if future.cancelled():
            self.post(promise.cancel)

    def _post_or_fail(self, work: Callable[[], None]) -> None:
        try:
            self.loop.call_soon_threadsafe(work)
        except RuntimeError:
            raise ConnectionLostError("the connection to the proxy was closed") from None


def result_of(future: Future[T]) -> T:
    """Block until a future is done, and return its result.

    An error of trafficmock loses its traceback: that has only frames of trafficmock, of another
    thread.
    """
    error = future.exception()
    if isinstance(error, TrafficMockError):
        raise error.with_traceback(None)
    return future.result()
