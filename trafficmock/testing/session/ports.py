"""What a session needs from outside: the connection to the proxy, and an adapter for its test."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from trafficmock.testing.session.arguments.callables import call_handler
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState

if TYPE_CHECKING:
    from trafficmock.testing.promise import Promise
    from trafficmock.testing.session.handlers.routed_request import RoutedRequest
    from trafficmock.testing.session.handlers.websocket_routes import MockedWebSocket
    from trafficmock.wire.inbound import Message

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""

Done = Callable[[Any, BaseException | None], None]
"""Called once with a result, or with what was raised."""

Cancel = Callable[[], None]


class ProxyLink(Protocol):
    """The connection to the proxy, and the loop that it lives on.

    :ivar proxy_url: where the proxy is.
    """

    proxy_url: str

    def send(self, message: Message) -> None:
        """Send a message.

        :raises ConnectionLostError: there is no connection.
        """

    def call_later(self, seconds: float, function: Callable[[], object]) -> Cancel:
        """Call a function later; the result cancels the call."""

    def new_id(self) -> str:
        """Make an id that nobody else has."""

    def new_context(self) -> str:
        """Make 128 random bits, as 32 lower-case hex characters."""

    def epoch_ms(self) -> int:
        """Give the time in milliseconds since 1970."""

    def monotonic_us(self) -> int:
        """Read the monotonic clock of this machine, in microseconds."""


class Adapter:
    """One way of writing tests: blocking, asyncio or Twisted.

    The session runs the functions of the test through it; the objects in the test's hands call
    the session through it.

    :cvar request_class: what the test sees of a request; the other classes likewise.
    """

    request_class: ClassVar[type[Any]]
    response_class: ClassVar[type[Any]]
    route_class: ClassVar[type[Any]]
    socket_class: ClassVar[type[Any]]

    call: Callable[[Callable[[], Any]], Any]
    """Calls a function of the session where that lives; what it raises is raised here."""

    wait_for: Callable[[Callable[[], Promise[Any]]], Any]
    """Calls a function of the session; waits for its promise, or gives an awaitable of it."""

    post: Callable[[Callable[[], object]], object]
    """Calls a function of the session soon, where that lives; from any thread."""

    # From the session to the test

    def run_handler(self, handler: Any, routed: RoutedRequest, done: Done) -> None:
        """Run a route handler as ``handler(route, request)``.

        Calls ``routed.abandoned(entry)`` when nobody holds the route any more.
        """
        adapter = self._of(handler)
        abandoned = partial(routed.abandoned, routed.entry)

        def start() -> Any:
            route = adapter.route_class(routed, adapter)
            # A finalizer may run in the midst of anything, on any thread.
            weakref.finalize(route, adapter.post, abandoned).atexit = False
            return call_handler(handler, route)

        adapter.run(start, done)

    def run_socket_handler(self, handler: Any, socket: MockedWebSocket, done: Done) -> None:
        """Run a WebSocket handler as ``handler(ws)``."""
        adapter = self._of(handler)
        adapter.run(lambda: handler(adapter.socket_class(socket.page, adapter)), done)

    def run_predicate(
        self, predicate: Any, found: RequestState | ResponseState, done: Done
    ) -> None:
        """Ask a waiter's predicate about a request or response."""
        adapter = self._of(predicate)
        adapter.run(lambda: predicate(adapter.show(found)), done)

    def run_function(self, function: Any, args: tuple[Any, ...], done: Done) -> None:
        """Run any other function of the test."""
        self._of(function).run(lambda: function(*args), done)

    # From the test to the session

    def show(self, state: RequestState | ResponseState | None) -> Any:
        """Give the one object that the test sees of a request or response, however often."""
        if state is None:
            return None
        kind = self.request_class if isinstance(state, RequestState) else self.response_class
        return state.views.get(kind) or state.views.setdefault(kind, kind(state, self))

    def done(self) -> Any:
        """Give the result of a finished call: nothing, or an awaitable."""
        raise NotImplementedError

    # What the ways differ in

    def run(self, start: Callable[[], Any], done: Done) -> None:
        """Call ``start``, await its result where that can be awaited, then call ``done``."""
        raise NotImplementedError

    def _of(self, function: Any) -> Adapter:  # noqa: ARG002 - for adapters that tell functions apart
        return self
