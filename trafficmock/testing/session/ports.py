"""What the session needs of the surroundings it runs in: time, ids, the link, the test's code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from trafficmock.testing.session.request_state import RequestState, ResponseState
    from trafficmock.testing.session.routed_request import RoutedRequest
    from trafficmock.testing.session.websocket_routes import MockedWebSocket
    from trafficmock.wire.inbound import Message

Done = Callable[[Any, BaseException | None], None]
"""Called once with a result, or with what was raised."""

Cancel = Callable[[], None]


class World(Protocol):
    """Runs a test's own code in the test's own way, and reports when it is done."""

    def handle(self, handler: Any, routed: RoutedRequest, done: Done) -> None:
        """Run a route handler as ``handler(route, request)``.

        Says ``routed.abandoned()`` when nobody holds the route any more.
        """

    def handle_socket(self, handler: Any, socket: MockedWebSocket, done: Done) -> None:
        """Run a WebSocket handler as ``handler(ws)``."""

    def test_request(self, predicate: Any, request: RequestState, done: Done) -> None:
        """Ask a waiter's predicate about a request."""

    def test_response(self, predicate: Any, response: ResponseState, done: Done) -> None:
        """Ask a waiter's predicate about a response."""

    def call(self, function: Any, args: tuple[Any, ...], done: Done) -> None:
        """Call any other function of the test."""


class ProxyLink(Protocol):
    """The connection to the proxy, and the loop that it lives on."""

    def send(self, message: Message) -> None:
        """Send a message.

        :raises ConnectionLostError: there is no connection.
        """

    def call_later(self, seconds: float, function: Callable[[], object]) -> Cancel:
        """Call a function later; the answer cancels that."""

    def new_id(self) -> str:
        """Make an id that nobody else has."""

    def epoch_ms(self) -> int:
        """Tell the time in milliseconds since 1970."""
