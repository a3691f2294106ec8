"""The WebSocket handlers of a test, newest first, and the WebSockets that they answer."""

from __future__ import annotations

import base64
import inspect
from collections import deque
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UsageError
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.arguments.callables import outcome_of
from trafficmock.testing.session.arguments.url_matchers import Matcher
from trafficmock.testing.session.handlers.http_routes import RouteEntry
from trafficmock.wire.inbound import (
    ClosePage,
    CloseServer,
    MessageFromPage,
    MessageFromServer,
    RouteMatch,
    SendToPage,
    SendToServer,
    SocketClaimResult,
    SocketClose,
    SocketConnect,
    SocketEnsureOpened,
    SocketFrame,
)
from trafficmock.wire.outbound import SocketClaim, SocketMatched

if TYPE_CHECKING:
    from trafficmock.testing.session.session import Session

EndName = Literal["page", "server"]


@define(eq=False)
class SocketEnd:
    """One end of a mocked WebSocket, with the test's handlers for its messages and its close.

    :param name: ``page`` is the application's end, ``server`` that of the real server.
    """

    socket: MockedWebSocket
    name: EndName
    on_message: Any = None
    on_close: Any = None
    _queue: deque[tuple[Any, tuple[Any, ...]]] = field(init=False, factory=deque, repr=False)
    _busy: bool = field(init=False, default=False)

    def send(self, message: str | bytes) -> None:
        """Send a message to this end; without effect once it is closed."""
        binary = not isinstance(message, str)
        data = base64.b64encode(message).decode() if isinstance(message, bytes) else str(message)
        kind = SendToPage if self.name == "page" else SendToServer
        self.socket.session.send(kind(self.socket.id, data, binary))

    def close(self, code: int | None, reason: str | None, *, was_clean: bool = True) -> None:
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

        The next plain handler waits until this one has returned; ``async`` ones run concurrently.
        """
        if inspect.iscoroutinefunction(handler):
            self.socket.session.adapter.run_function(handler, args, self._record)
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

        self.socket.session.adapter.run_function(handler, args, done)

    def _record(self, _: Any, error: BaseException | None) -> None:
        if error is not None and not self.socket.session.ended:
            error.add_note(f"in a handler of the WebSocket {self.socket.shown_url}")
            self.socket.session.errors.append(error)


@define(eq=False)
class MockedWebSocket:
    """A WebSocket that this test owns.

    :param shown_url: its URL for texts, with the proxy's marks in place of secrets.
    :param connected: whether the handler has connected to the real server.
    :param closed_sides: the ends that have closed.
    """

    id: str
    url: str
    shown_url: str
    protocols: list[str]
    session: Session
    connected: bool = False
    closed_sides: set[EndName] = field(factory=set)
    page: SocketEnd = field(init=False)
    server: SocketEnd = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.page, self.server = SocketEnd(self, "page"), SocketEnd(self, "server")

    def connect(self, side: SocketEnd) -> SocketEnd:
        """Connect to the real server, and return its end.

        :raises UsageError: it is connected already, or ``side`` is the server's end.
        """
        if side is self.server:
            raise UsageError("connectToServer must be called on the page-side WebSocketRoute")
        if self.connected:
            raise UsageError(f"{self.shown_url}: already connected to the server")
        self.connected = True
        self.session.send(SocketConnect(self.id))
        return self.server

    def frame(self, message: SocketFrame) -> None:
        """Pass a message of one end to the test's handler, or to the other end."""
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
        """Pass the close of one end to the test's handler, or to the other end."""
        code = None if message.code is UNSET else message.code
        reason = None if message.reason is UNSET else message.reason
        side, other = self.page, self.server
        if isinstance(message, CloseServer):
            side, other = self.server, self.page
        if side.name in self.closed_sides:
            # One close may be reported several times.
            return
        self.closed_sides.add(side.name)
        if side.on_close is not None:
            side.handle(side.on_close, code, reason)
        elif other is self.page or self.connected:
            other.close(code, reason, was_clean=message.was_clean)


def _data(frame: SocketFrame) -> str | bytes:
    return base64.b64decode(frame.data) if frame.is_base64 else frame.data


INTERNAL_ERROR = 1011
"""The WebSocket close code of an endpoint that failed (RFC 6455 section 7.4.1)."""


@define(eq=False)
class WebSocketRoutes:
    """The WebSocket handlers of one test; the proxy names the one that gets a WebSocket."""

    session: Session
    entries: list[RouteEntry] = field(init=False, factory=list)
    sockets: dict[str, MockedWebSocket] = field(init=False, factory=dict)

    def add(self, matcher: Matcher, handler: Any, place: str | UnsetType = UNSET) -> Promise[Any]:
        """Register a handler before all others, for WebSockets that are opened later.

        :param place: the file and line of the test's call.
        """
        link = self.session.client.link
        entry = RouteEntry(link.new_id(), matcher, handler, _never, link.monotonic_us())
        self.entries.insert(0, entry)
        return self.session.register_route(entry, "websocket", place)

    def claimed(self, message: SocketClaim) -> None:
        """Answer the proxy's ``ws:claim`` with those of its routes that match the WebSocket."""
        asked = message.route_ids or ()
        matches = [
            RouteMatch(entry.id)
            for entry in self.entries
            if entry.id in asked and self._matches(entry, message)
        ]
        answer = SocketClaimResult(message.socket_id, self.session.id, matches)
        self.session.send(answer)

    def matched(self, message: SocketMatched) -> None:
        """Run the handler of a route on a WebSocket that the test owns."""
        session = self.session
        entry = next(each for each in self.entries if each.id == message.route_id)
        shown = message.shown_url or message.url
        protocols = list(message.protocols)
        socket = MockedWebSocket(message.socket_id, message.url, shown, protocols, session)
        self.sockets[socket.id] = socket

        def done(_: Any, error: BaseException | None) -> None:
            self._handled(entry, socket, error)

        session.adapter.run_socket_handler(entry.handler, socket, done)

    def _handled(
        self, entry: RouteEntry, socket: MockedWebSocket, error: BaseException | None
    ) -> None:
        if self.session.ended:
            return
        if error is not None:
            error.add_note(f"in {entry.name}, on the WebSocket {socket.shown_url}")
            self.session.errors.append(error)
            # Without this the application's WebSocket would stay in CONNECTING.
            socket.page.close(INTERNAL_ERROR, "the test's handler failed")
        elif not socket.connected:
            self.session.send(SocketEnsureOpened(socket.id))

    def receive(
        self, message: MessageFromPage | MessageFromServer | ClosePage | CloseServer
    ) -> None:
        """Handle a message or a close, if the test owns the WebSocket."""
        socket = self.sockets.get(message.socket_id)
        if socket is None:
            return
        if isinstance(message, MessageFromPage | MessageFromServer):
            socket.frame(message)
        else:
            socket.closed(message)

    def _matches(self, entry: RouteEntry, message: SocketClaim) -> bool:
        met, error = outcome_of(lambda: entry.matcher.matches_url(message.url))
        if error is not None:
            shown = message.shown_url or message.url
            error.add_note(f"in the URL predicate {entry.matcher}, asked about {shown}")
            self.session.errors.append(error)
        return bool(met)


def _never(*_: Any) -> None:
    """Fill :attr:`RouteEntry.run`, which WebSockets do not use: the adapter runs their handlers."""
