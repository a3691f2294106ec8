"""The argument of a WebSocket handler (Playwright's ``WebSocketRoute``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from trafficmock.testing.session.handlers.websocket_routes import SocketEnd
    from trafficmock.testing.session.ports import Adapter


class BaseWebSocketRoute:
    """One side of a WebSocket: the application's, or the real server's."""

    def __init__(self, side: SocketEnd, adapter: Adapter) -> None:
        self._side = side
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._side.name} {self.url}>"

    @property
    def url(self) -> str:
        """The URL that the application connects to."""
        return self._side.socket.url

    @property
    def protocols(self) -> list[str]:
        """The subprotocols that it asks for; a copy."""
        return list(self._side.socket.protocols)

    def send(self, message: str | bytes) -> None:
        """Send a frame to this side: text, or binary for bytes."""
        self._adapter.call(lambda: self._side.send(message))

    def on_message(self, handler: Callable[[Any], Any]) -> None:
        """Take the frames that come from this side; they are not passed on any more.

        A second handler replaces the first.
        """
        self._side.on_message = handler

    def on_close(self, handler: Callable[[int | None, str | None], Any]) -> None:
        """Take the close of this side; it is not passed on any more."""
        self._side.on_close = handler

    def _close(self, code: int | None, reason: str | None) -> None:
        self._adapter.call(lambda: self._side.close(code, reason))

    def _connect(self) -> SocketEnd:
        side: SocketEnd = self._adapter.call(lambda: self._side.socket.connect(self._side))
        return side


class WebSocketRoute(BaseWebSocketRoute):
    """A side as blocking tests see it."""

    def close(self, *, code: int | None = None, reason: str | None = None) -> None:
        """Close this side."""
        self._close(code, reason)

    def connect_to_server(self) -> WebSocketRoute:
        """Open the real server; frames without a handler pass between the two sides.

        :raises UsageError: it was opened before, or this is the server's side.
        """
        return WebSocketRoute(self._connect(), self._adapter)


class AsyncWebSocketRoute(BaseWebSocketRoute):
    """A side as asyncio and Twisted tests see it."""

    def close(self, *, code: int | None = None, reason: str | None = None) -> Awaitable[None]:
        """Close this side."""
        self._close(code, reason)
        done: Awaitable[None] = self._adapter.done()
        return done

    def connect_to_server(self) -> AsyncWebSocketRoute:
        """Open the real server; see :meth:`WebSocketRoute.connect_to_server`."""
        return AsyncWebSocketRoute(self._connect(), self._adapter)
