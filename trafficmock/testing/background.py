"""The connection of blocking and asyncio tests: it lives on a thread of its own.

So a test that is blocked in ``page.click()`` still answers, and a fixture can end a test
whose event loop is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import uuid
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from trafficmock.errors import TrafficMockError
from trafficmock.testing.codec import decode_for_worker
from trafficmock.testing.errors import ConnectionLostError, UsageError
from trafficmock.testing.hub import Hub, Identity
from trafficmock.testing.proxy_address import unreachable, websocket_url
from trafficmock.wire.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from websockets.asyncio.client import ClientConnection

    from trafficmock.testing.promise import Promise
    from trafficmock.testing.world import Cancel
    from trafficmock.wire.inbound import Message

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""

T = TypeVar("T")

OPEN_SECONDS = 10.0
CLOSE_SECONDS = 2.0


class Background:
    """A connection to the proxy and the hub that speaks for it.

    Everything of the hub and its sessions happens on the one thread; others come in by
    :meth:`call`, :meth:`wait_for` and :meth:`post`.
    """

    def __init__(self, proxy_url: str, identity: Identity) -> None:
        self.proxy_url = proxy_url
        self.hub = Hub(self, identity)
        self.loop = asyncio.new_event_loop()
        self._url = websocket_url(proxy_url)
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._closing = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="trafficmock", daemon=True)

    # Life

    def open(self) -> None:
        """Connect and introduce ourselves.

        :raises ConnectionLostError: there is no proxy.
        :raises RefusedError: it does not let us in.
        """
        self._thread.start()
        try:
            self.wait_for(lambda: self.hub.ready)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect and end the thread."""
        self.post(self._closing.set)
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._live())
        finally:
            self.loop.close()

    async def _live(self) -> None:
        """Converse until the end; stay after a loss, so that those who ask hear why."""
        conversation = asyncio.ensure_future(self._connection())
        await self._closing.wait()
        conversation.cancel()
        await asyncio.gather(conversation, return_exceptions=True)
        self.hub.closed("it was closed")

    async def _connection(self) -> None:
        try:
            async with connect(
                self._url,
                compression=None,
                max_size=None,
                ping_interval=None,
                proxy=None,
                open_timeout=OPEN_SECONDS,
                close_timeout=CLOSE_SECONDS,
            ) as socket:
                self.hub.opened()
                writer = asyncio.ensure_future(self._write(socket))
                try:
                    await self._read(socket)
                finally:
                    writer.cancel()
        except (OSError, WebSocketException) as error:
            if not self.hub.ready.done:
                self.hub.ready.reject(unreachable(self.proxy_url, error))
            self.hub.closed(str(error))

    async def _read(self, socket: ClientConnection) -> None:
        while True:
            message = decode_for_worker(await socket.recv(decode=False))
            if message is not None:
                self.hub.receive(message)

    async def _write(self, socket: ClientConnection) -> None:
        # A lost connection ends the reader too, which says so.
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.send(await self._outgoing.get(), text=True)

    # The link

    def send(self, message: Message) -> None:
        """Send a message after those before it."""
        self._outgoing.put_nowait(encode(message))

    def call_later(self, seconds: float, function: Callable[[], object]) -> Cancel:
        """Call a function later, on the thread."""
        return self.loop.call_later(seconds, function).cancel

    def new_id(self) -> str:
        """Make an id that nobody else has."""
        return str(uuid.uuid4())

    def epoch_ms(self) -> int:
        """Tell the time in milliseconds since 1970."""
        return round(time.time() * 1000)

    # From other threads

    def on_thread(self) -> bool:
        """Tell whether this is the connection's own thread."""
        return threading.current_thread() is self._thread

    def post(self, function: Callable[[], object]) -> None:
        """Call a function on the thread, soon; nothing happens when that has ended."""
        try:
            self.loop.call_soon_threadsafe(function)
        except RuntimeError:
            return

    def call(self, function: Callable[[], T]) -> T:
        """Call a function on the thread, and give what it gives.

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
        return outcome(future)

    def wait_for(self, function: Callable[[], Promise[T]]) -> T:
        """Call a function on the thread that gives a promise, and block until that is settled.

        :raises UsageError: on the thread itself, which would wait for ever.
        """
        if self.on_thread():
            raise UsageError("this would block the connection; await the asynchronous API here")
        return outcome(self.future(function))

    def future(self, function: Callable[[], Promise[T]]) -> Future[T]:
        """Call a function on the thread that gives a promise, and give that as a future."""
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


def outcome(future: Future[T]) -> T:
    """Wait for a future; an error of ours is raised as if it came from here.

    Where it came from is our own code, on another thread, which says nothing to a test.
    """
    error = future.exception()
    if isinstance(error, TrafficMockError):
        raise error.with_traceback(None)
    return future.result()
