"""A client of the service that says what no library would: bytes, frames, messages."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from twisted.internet import reactor as _reactor  # noqa: TID251 - trial runs the global one
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure

from tests.hostile.clients import frames
from tests.support.http_client import Answer

reactor: Any = _reactor
SECONDS = 60.0
"""What an answer may take before a test fails; far more than any needs on a busy machine."""

HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
)
HELLO = {"type": "hello", "protocolVersion": 3, "packageVersion": "0.1.0"}


class Raw(Protocol):
    """One TCP connection."""

    transport: Any

    def __init__(self) -> None:
        self.received = bytearray()
        self.ended = False
        self.answers_heartbeats = False
        self._waiting: list[Deferred[None]] = []

    def dataReceived(self, data: bytes) -> None:
        self.received += data
        self._wake()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002 - Twisted's
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.called:
                one.callback(None)

    # Out

    def write(self, data: bytes) -> None:
        self.transport.write(data)

    def half_close(self) -> None:
        self.transport.loseWriteConnection()

    def drop(self) -> None:
        """Close; what was not read yet makes it a reset."""
        self.transport.loseConnection()

    def reset(self) -> None:
        self.transport.abortConnection()

    def stop_reading(self) -> None:
        self.transport.pauseProducing()

    def read_on(self) -> None:
        self.transport.resumeProducing()

    # In

    async def until(self, satisfied: Callable[[], Any], seconds: float = SECONDS) -> None:
        """Wait for the service to send what makes something true.

        :raises twisted.internet.defer.TimeoutError: it did not, in time.
        :raises AssertionError: it closed the connection before that.
        """
        deadline = reactor.seconds() + seconds
        while not satisfied():
            if self.ended:
                raise AssertionError(f"closed after {bytes(self.received[:400])!r}")
            await self._changed(deadline - reactor.seconds())

    async def end(self, seconds: float = SECONDS) -> bytes:
        """Wait for the end of the connection; give what came until then."""
        deadline = reactor.seconds() + seconds
        while not self.ended:
            await self._changed(deadline - reactor.seconds())
        rest = bytes(self.received)
        self.received.clear()
        return rest

    async def _changed(self, seconds: float) -> None:
        news: Deferred[None] = Deferred()
        self._waiting.append(news)
        await news.addTimeout(max(0.0, seconds), reactor)

    async def head(self) -> tuple[int, dict[str, str]]:
        """Take the head of an HTTP answer: status and headers."""
        await self.until(lambda: b"\r\n\r\n" in self.received)
        head, _, rest = bytes(self.received).partition(b"\r\n\r\n")
        self.received[:] = rest
        status, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.split(":", 1) for line in lines)
        return int(status.split()[1]), {name.lower(): value.strip() for name, value in pairs}

    async def answer(self) -> Answer:
        """Take an HTTP answer that has a ``content-length``."""
        status, headers = await self.head()
        length = int(headers["content-length"])
        await self.until(lambda: len(self.received) >= length)
        body = bytes(self.received[:length])
        del self.received[:length]
        return Answer(status, headers, body)

    async def refusal(self) -> tuple[int, str]:
        """Take an answer that ends the connection: its status and error code."""
        answer = await self.answer()
        assert await self.end() == b"", "something came behind the refusal"
        return answer.status, answer.json()["error"]

    # WebSocket

    async def upgrade(self) -> None:
        self.write(HANDSHAKE)
        status, _ = await self.head()
        assert status == 101, status

    def send(self, *messages: dict[str, Any]) -> None:
        """Send messages, all in one segment."""
        self.write(b"".join(frames.text(message) for message in messages))

    async def hello(self, role: str, **more: Any) -> dict[str, Any]:
        """Say hello; give the answer."""
        self.send(HELLO | {"role": role} | more)
        return await self.message()

    async def frame(self, seconds: float = SECONDS) -> tuple[int, bytes]:
        """Take a frame: its first byte and its payload."""
        while (found := frames.take_frame(self.received)) is None:
            await self.until(partial(self._has_more_than, len(self.received)), seconds)
        return found

    def _has_more_than(self, count: int) -> bool:
        return len(self.received) > count

    async def message(self, seconds: float = SECONDS) -> dict[str, Any]:
        """Take a message that is no heartbeat."""
        while True:
            first, payload = await self.frame(seconds)
            assert first == 0x81, (first, payload[:200])
            message: dict[str, Any] = json.loads(payload)
            if message["type"] != "ping":
                return message
            if self.answers_heartbeats:
                self.send({"type": "pong", "at": message["at"]})

    async def of_type(self, *types: str, about: str | None = None) -> dict[str, Any]:
        """Take the next message of one of these types, leaving out what comes before it.

        :param about: the id of the request or socket that it must be about.
        """
        deadline = reactor.seconds() + SECONDS
        while True:
            message = await self.message(max(0.0, deadline - reactor.seconds()))
            ids = (message.get("requestId"), message.get("socketId"))
            if message["type"] in types and (about is None or about in ids):
                return message

    async def close_frame(self) -> tuple[int, str]:
        """Take the close frame: code and reason."""
        first, payload = await self.frame()
        assert first == 0x88, (first, payload[:200])
        return int.from_bytes(payload[:2], "big"), payload[2:].decode()

    async def barrier(self) -> list[dict[str, Any]]:
        """Wait until everything sent so far has been handled; give what came of it."""
        self.send({"type": "ping", "at": 1})
        came = []
        while (message := await self.message())["type"] != "pong":
            came.append(message)
        return came


async def connect(url: str) -> Raw:
    """Open a connection to the service with this base URL."""
    port = urlsplit(url).port
    assert port is not None
    endpoint = TCP4ClientEndpoint(reactor, "127.0.0.1", port)
    raw: Raw = await connectProtocol(endpoint, Raw())
    return raw


def pause(seconds: float) -> Deferred[None]:
    """Let time pass where the passing of time is the point."""
    return deferLater(reactor, seconds)
