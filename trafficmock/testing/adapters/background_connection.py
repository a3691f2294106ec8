"""The connection of blocking and asyncio tests, on a thread of its own.

So requests are still answered while a test is blocked in ``page.click()``, and a fixture can end a
test whose event loop is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
import uuid

from trafficmock.errors import LocalError

try:
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, WebSocketException
except ModuleNotFoundError as missing:
    raise LocalError(
        "tests need the package websockets: install trafficmock with its extra `testing`, as by "
        "pip install '.[testing]'"
    ) from missing

from collections.abc import Callable

from websockets.asyncio.client import ClientConnection

from trafficmock.testing.adapters.ack_timeout import ack_seconds
from trafficmock.testing.adapters.loop_thread import LoopThread
from trafficmock.testing.adapters.proxy_address import unreachable, websocket_url
from trafficmock.testing.reporting.run_age import run_age
from trafficmock.testing.session.ports import Cancel
from trafficmock.testing.session.worker_client import (
    WorkerClient,
    WorkerIdentity,
    decode_for_worker,
)
from trafficmock.wire.codec import encode
from trafficmock.wire.inbound import Message

OPEN_SECONDS = 10.0
CLOSE_SECONDS = 2.0


class BackgroundConnection(LoopThread):
    """A WebSocket to the proxy, with its worker client.

    The client and its sessions are used on this thread only; other threads use :meth:`call`,
    :meth:`wait_for` and :meth:`post`.

    :param proxy_url: the proxy's URL.
    :param identity: the contents of ``hello``.
    :raises UsageError: the URL is not that of a proxy.
    """

    def __init__(self, proxy_url: str, identity: WorkerIdentity) -> None:
        super().__init__()
        self.proxy_url = proxy_url
        self.client = WorkerClient(self, identity, ack_seconds(), run_age)
        self._url = websocket_url(proxy_url)
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._closing = asyncio.Event()

    # Opening and closing

    def open(self) -> None:
        """Connect, send ``hello`` and wait for the answer.

        :raises ConnectionLostError: no proxy answers.
        :raises RefusedError: the proxy refuses the connection.
        """
        self._thread.start()
        try:
            self.wait_for(lambda: self.client.ready)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect and end the thread."""
        self.post(self._closing.set)
        self._thread.join(CLOSE_SECONDS)

    async def _live(self) -> None:
        """Run until :meth:`close`, even after a loss, so that later calls fail with its reason."""
        conversation = asyncio.ensure_future(self._conversation())
        await self._closing.wait()
        conversation.cancel()
        await asyncio.gather(conversation, return_exceptions=True)
        self.client.closed("it was closed")

    async def _conversation(self) -> None:
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
                self.client.opened()
                writer = asyncio.ensure_future(self._write(socket))
                try:
                    await self._read(socket)
                finally:
                    writer.cancel()
        except (OSError, WebSocketException) as error:
            if not self.client.ready.done:
                self.client.ready.reject(unreachable(self.proxy_url, error))
            self.client.closed(str(error))

    async def _read(self, socket: ClientConnection) -> None:
        while True:
            message = decode_for_worker(await socket.recv(decode=False))
            if message is not None:
                self.client.receive(message)

    async def _write(self, socket: ClientConnection) -> None:
        # A lost connection also ends the reader, which reports it.
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.send(await self._outgoing.get(), text=True)

    # The link

    def send(self, message: Message) -> None:
        """Queue a message; messages are sent in order."""
        self._outgoing.put_nowait(encode(message))

    def call_later(self, seconds: float, function: Callable[[], object]) -> Cancel:
        """Call a function on the thread after some seconds; the result cancels the call."""
        return self.loop.call_later(seconds, function).cancel

    def new_id(self) -> str:
        """Return a random UUID."""
        return str(uuid.uuid4())

    def new_context(self) -> str:
        """Return 128 random bits as 32 lower-case hexadecimal characters."""
        return secrets.token_hex(16)

    def epoch_ms(self) -> int:
        """Return the time in milliseconds since 1970."""
        return round(time.time() * 1000)

    def monotonic_us(self) -> int:
        """Return the monotonic clock of this machine, in microseconds."""
        return time.monotonic_ns() // 1000
