"""A test's handlers for WebSockets, newest first, and the sockets that they got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from trafficmock.testing.session.mocked_websocket import MockedWebSocket
from trafficmock.testing.session.route_list import RouteEntry
from trafficmock.wire.inbound import (
    ClosePage,
    CloseServer,
    MessageFromPage,
    MessageFromServer,
    RouteMatch,
    RouteRegister,
    SocketClaimResult,
    SocketConnect,
    SocketEnsureOpened,
)

if TYPE_CHECKING:
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.session import Session
    from trafficmock.testing.session.url_matchers import Matcher
    from trafficmock.wire.outbound import SocketClaim, SocketMatched

INTERNAL_ERROR = 1011
"""The WebSocket close code of an endpoint that failed (RFC 6455 section 7.4.1)."""


@define(eq=False)
class WebSocketRoutes:
    """The newest handler that matches gets a socket; there is no chain."""

    session: Session
    entries: list[RouteEntry] = field(init=False, factory=list)
    sockets: dict[str, MockedWebSocket] = field(init=False, factory=dict)

    def add(self, matcher: Matcher, handler: Any) -> Promise[Any]:
        """Register a handler before all others, for sockets opened later."""
        client = self.session.client
        entry = RouteEntry(client.link.new_id(), matcher, handler, _never)
        self.entries.insert(0, entry)
        message = RouteRegister(entry.id, self.session.id, matcher.wire, "websocket")
        return client.ask(("route:register", entry.id), message)

    def claimed(self, message: SocketClaim) -> None:
        """Answer which of our routes match."""
        matches = [
            RouteMatch(entry.id) for entry in self.entries if self._matches(entry, message.url)
        ]
        answer = SocketClaimResult(message.socket_id, self.session.id, matches)
        self.session.send(answer)

    def matched(self, message: SocketMatched) -> None:
        """Run our newest handler on a socket that is ours."""
        session = self.session
        entry = next((each for each in self.entries if self._matches(each, message.url)), None)
        if entry is None:
            # Nobody here wants it any more, and a mock that nobody plays would be a trap.
            session.send(SocketConnect(message.socket_id))
            return
        socket = MockedWebSocket(message.socket_id, message.url, list(message.protocols), session)
        self.sockets[socket.id] = socket

        def done(_: Any, error: BaseException | None) -> None:
            self._handled(entry, socket, error)

        session.world.handle_socket(entry.handler, socket, done)

    def _handled(
        self, entry: RouteEntry, socket: MockedWebSocket, error: BaseException | None
    ) -> None:
        if self.session.ended:
            return
        if error is not None:
            error.add_note(f"in {entry.name}, on the WebSocket {socket.url}")
            self.session.errors.append(error)
            # Without this the application's socket would stay in CONNECTING for ever.
            socket.page.close(INTERNAL_ERROR, "the test's handler failed")
        elif not socket.connected:
            self.session.send(SocketEnsureOpened(socket.id))

    def receive(
        self, message: MessageFromPage | MessageFromServer | ClosePage | CloseServer
    ) -> None:
        """Take a frame or a close, if the socket is ours."""
        socket = self.sockets.get(message.socket_id)
        if socket is None:
            return
        if isinstance(message, MessageFromPage | MessageFromServer):
            socket.frame(message)
        else:
            socket.closed(message)

    def _matches(self, entry: RouteEntry, url: str) -> bool:
        try:
            return entry.matcher.matches_url(url)
        except Exception as error:  # noqa: BLE001 - a test's predicate may raise anything
            error.add_note(f"in the URL predicate {entry.matcher}, asked about {url}")
            self.session.errors.append(error)
            return False


def _never(*_: Any) -> None:
    """Stand in for the runner of HTTP handlers: sockets have another."""
