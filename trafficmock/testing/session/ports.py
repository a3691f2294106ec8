"""The interfaces that a session needs: the connection to the proxy, and an adapter for its test."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from trafficmock.testing.promise import Promise
from trafficmock.testing.session.arguments.callables import call_handler
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
from trafficmock.wire.inbound import Message

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.routed_request import RoutedRequest
    from trafficmock.testing.session.handlers.websocket_routes import MockedWebSocket


Done = Callable[[Any, BaseException | None], None]
"""Called once, with a result and ``None``, or with ``None`` and the error that was raised."""

Cancel = Callable[[], None]


class ProxyLink(Protocol):
    """The connection to the proxy, with the timers and clocks of its event loop.

    :ivar proxy_url: the proxy's URL.
    """

    proxy_url: str

    def send(self, message: Message) -> None:
        """Send a message.

        :raises ConnectionLostError: there is no connection.
        """

    def call_later(self, seconds: float, function: Callable[[], object]) -> Cancel:
        """Call a function later; the result cancels the call."""

    def new_id(self) -> str:
        """Return a unique id."""

    def new_context(self) -> str:
        """Return 128 random bits as 32 lower-case hexadecimal characters."""

    def epoch_ms(self) -> int:
        """Return the time in milliseconds since 1970."""

    def monotonic_us(self) -> int:
        """Return the monotonic clock of this machine, in microseconds."""


class Adapter:
    """Runs the functions of one kind of test: blocking, asyncio or Twisted.

    The session calls the functions of the test through it, and the objects of the test
    (:mod:`trafficmock.testing.objects`) call the session through it.

    :cvar request_class: the class of the requests that the test gets; the others likewise.
    """

    request_class: ClassVar[type[Any]]
    response_class: ClassVar[type[Any]]
    route_class: ClassVar[type[Any]]
    socket_class: ClassVar[type[Any]]

    call: Callable[[Callable[[], Any]], Any]
    """Calls a function on the session's thread, and returns its result or raises its error."""

    wait_for: Callable[[Callable[[], Promise[Any]]], Any]
    """Calls a function on the session's thread; waits for its promise, or returns an awaitable."""

    post: Callable[[Callable[[], object]], object]
    """Has the session's thread call a function soon; may be called from any thread."""

    # From the session to the test

    def run_handler(self, handler: Any, routed: RoutedRequest, done: Done) -> None:
        """Run a route handler as ``handler(route, request)``.

        ``routed.abandoned()`` is called when the route object is collected: no decision can
        follow.
        """
        adapter = self._of(handler)

        def start() -> Any:
            route = adapter.route_class(routed, adapter)
            # A finalizer may run at any time, on any thread: so it only posts.
            weakref.finalize(route, adapter.post, routed.abandoned).atexit = False
            return call_handler(handler, route)

        adapter.run(start, done)

    def run_socket_handler(self, handler: Any, socket: MockedWebSocket, done: Done) -> None:
        """Run a WebSocket handler as ``handler(ws)``."""
        adapter = self._of(handler)
        adapter.run(lambda: handler(adapter.socket_class(socket.page, adapter)), done)

    def run_predicate(
        self, predicate: Any, found: RequestState | ResponseState, done: Done
    ) -> None:
        """Call a waiter's predicate with a request or response."""
        adapter = self._of(predicate)
        adapter.run(lambda: predicate(adapter.show(found)), done)

    def run_function(self, function: Any, args: tuple[Any, ...], done: Done) -> None:
        """Run any other function of the test."""
        self._of(function).run(lambda: function(*args), done)

    # From the test to the session

    def show(self, state: RequestState | ResponseState | None) -> Any:
        """Return the test's object for a request or response, always the same one."""
        if state is None:
            return None
        kind = self.request_class if isinstance(state, RequestState) else self.response_class
        return state.views.get(kind) or state.views.setdefault(kind, kind(state, self))

    def settled(self, promise: Promise[None]) -> Any:
        """Wait for a promise of the session, or return an awaitable that need not be awaited."""
        raise NotImplementedError

    def heed(self, promise: Promise[None]) -> None:
        """Raise the error of a promise of the session here, if the test blocks."""

    def done(self) -> Any:
        """Return the result of a finished call: ``None``, or a finished awaitable."""
        raise NotImplementedError

    # What each kind of test implements

    def run(self, start: Callable[[], Any], done: Done) -> None:
        """Call ``start``, await its result if it is awaitable, then call ``done``."""
        raise NotImplementedError

    def _of(self, function: Any) -> Adapter:  # noqa: ARG002 - for adapters that tell functions apart
        return self
