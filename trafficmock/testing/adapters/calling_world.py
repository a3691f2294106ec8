"""Calls the functions of a test, whichever way it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from trafficmock.testing.session.callables import call_handler

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.adapters.surroundings import Surroundings
    from trafficmock.testing.session.ports import Done
    from trafficmock.testing.session.request_state import RequestState, ResponseState
    from trafficmock.testing.session.routed_request import RoutedRequest
    from trafficmock.testing.session.websocket_routes import MockedWebSocket


class CallingWorld:
    """Shows a function what it is to see; how it is run is for the classes of each way to say."""

    route_class: ClassVar[type[Any]]
    socket_class: ClassVar[type[Any]]

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def handle(self, handler: Any, routed: RoutedRequest, done: Done) -> None:
        """Run a route handler."""

        def start() -> Any:
            route = self.route_class(routed, self._surroundings)
            self._watch(route, routed)
            return call_handler(handler, route)

        self._run(start, done)

    def handle_socket(self, handler: Any, socket: MockedWebSocket, done: Done) -> None:
        """Run a WebSocket handler."""
        self._run(lambda: handler(self.socket_class(socket.page, self._surroundings)), done)

    def test_request(self, predicate: Any, request: RequestState, done: Done) -> None:
        """Ask a predicate."""
        self._run(lambda: predicate(self._surroundings.request(request)), done)

    def test_response(self, predicate: Any, response: ResponseState, done: Done) -> None:
        """Ask a predicate."""
        self._run(lambda: predicate(self._surroundings.response(response)), done)

    def call(self, function: Any, args: tuple[Any, ...], done: Done) -> None:
        """Call any other function."""
        self._run(lambda: function(*args), done)

    def _run(self, start: Callable[[], Any], done: Done) -> None:
        """Start something of the test, and say when it is done."""
        raise NotImplementedError

    def _watch(self, route: Any, routed: RoutedRequest) -> None:
        """Tell the routed request, where it lives, when nobody holds its route any more."""
        raise NotImplementedError
