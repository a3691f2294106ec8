"""One mocked WebSocket: its page side, which is the application's, and its server side."""

from __future__ import annotations

import base64
import inspect
from collections import deque
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field
from msgspec import UNSET

from trafficmock.testing.errors import UsageError
from trafficmock.wire.inbound import (
    ClosePage,
    CloseServer,
    MessageFromPage,
    MessageFromServer,
    SendToPage,
    SendToServer,
    SocketConnect,
)

if TYPE_CHECKING:
    from trafficmock.testing.session.session import Session
    from trafficmock.wire.inbound import SocketClose, SocketFrame

EndName = Literal["page", "server"]


@define(eq=False)
class SocketEnd:
    """One of the two ends, with the test's handlers for what comes from it."""

    socket: MockedWebSocket
    name: EndName
    on_message: Any = None
    on_close: Any = None
    _queue: deque[tuple[Any, tuple[Any, ...]]] = field(init=False, factory=deque)
    _busy: bool = field(init=False, default=False)

    def send(self, message: str | bytes) -> None:
        """Send a frame to this end; without effect once it is closed."""
        binary = not isinstance(message, str)
        data = base64.b64encode(message).decode() if isinstance(message, bytes) else str(message)
        kind = SendToPage if self.name == "page" else SendToServer
        self.socket.session.send(kind(self.socket.id, data, binary))

    def close(self, code: int | None, reason: str | None, *, was_clean: bool = True) -> None:
        """Close this end."""
        kind = ClosePage if self.name == "page" else CloseServer
        self.socket.session.send(
            kind(
                self.socket.id,
                was_clean,
                UNSET if code is None else code,
                UNSET if reason is None else reason,
            )
        )

    def handle(self, handler: Any, *args: Any) -> None:
        """Call a handler of the test, in the order of events.

        What an ``async`` handler still has to do when it is started holds up nobody.
        """
        if inspect.iscoroutinefunction(handler):
            self.socket.session.world.call(handler, args, self._record)
            return
        self._queue.append((handler, args))
        if not self._busy:
            self._next()

    def _next(self) -> None:
        self._busy = bool(self._queue)
        if not self._queue:
            return
        handler, args = self._queue.popleft()

        def done(result: Any, error: BaseException | None) -> None:
            self._record(result, error)
            self._next()

        self.socket.session.world.call(handler, args, done)

    def _record(self, _: Any, error: BaseException | None) -> None:
        if error is not None and not self.socket.session.ended:
            error.add_note(f"in a handler of the WebSocket {self.socket.url}")
            self.socket.session.errors.append(error)


@define(eq=False)
class MockedWebSocket:
    """A WebSocket that this test owns."""

    id: str
    url: str
    protocols: list[str]
    session: Session
    connected: bool = False
    closed_sides: set[EndName] = field(factory=set)
    page: SocketEnd = field(init=False)
    server: SocketEnd = field(init=False)
    views: dict[Any, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.page, self.server = SocketEnd(self, "page"), SocketEnd(self, "server")

    def connect(self, side: SocketEnd) -> SocketEnd:
        """Open the real server.

        :raises UsageError: it is open already, or this is its own side.
        """
        if side is self.server:
            raise UsageError("connectToServer must be called on the page-side WebSocketRoute")
        if self.connected:
            raise UsageError(f"{self.url}: already connected to the server")
        self.connected = True
        self.session.send(SocketConnect(self.id))
        return self.server

    def frame(self, message: SocketFrame) -> None:
        """Take a frame of either end: the test's handler gets it, or the other end."""
        if isinstance(message, MessageFromPage):
            if self.page.on_message is not None:
                self.page.handle(self.page.on_message, _data(message))
            elif self.connected:
                self.session.send(SendToServer(self.id, message.data, message.is_base64))
        elif isinstance(message, MessageFromServer):
            if self.server.on_message is not None:
                self.server.handle(self.server.on_message, _data(message))
            else:
                self.session.send(SendToPage(self.id, message.data, message.is_base64))

    def closed(self, message: SocketClose) -> None:
        """Take the close of either end: the test's handler gets it, or the other end."""
        code = None if message.code is UNSET else message.code
        reason = None if message.reason is UNSET else message.reason
        side, other = self.page, self.server
        if isinstance(message, CloseServer):
            side, other = self.server, self.page
        if side.name in self.closed_sides:
            # One close comes back as several echoes.
            return
        self.closed_sides.add(side.name)
        if side.on_close is not None:
            side.handle(side.on_close, code, reason)
        elif other is self.page or self.connected:
            other.close(code, reason, was_clean=message.was_clean)


def _data(frame: SocketFrame) -> str | bytes:
    return base64.b64decode(frame.data) if frame.is_base64 else frame.data
