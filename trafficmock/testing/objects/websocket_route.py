"""The argument of a WebSocket handler (Playwright's ``WebSocketRoute``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trafficmock.redaction.process_redactor import safe_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from trafficmock.testing.session.handlers.websocket_routes import SocketEnd
    from trafficmock.testing.session.ports import Adapter


class BaseWebSocketRoute:
    """One end of a WebSocket that a handler answers: the application's, or the real server's."""

    def __init__(self, side: SocketEnd, adapter: Adapter) -> None:
        self._side = side
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._side.name} {safe_url(self.url)}>"

    @property
    def url(self) -> str:
        """The URL that the application opened."""
        return self._side.socket.url

    @property
    def protocols(self) -> list[str]:
        """The subprotocols that the application offered, as a copy."""
        return list(self._side.socket.protocols)

    def send(self, message: str | bytes) -> None:
        """Send a message to this end: a text message for ``str``, a binary one for ``bytes``.

        Without effect once the end is closed.
        """
        self._adapter.call(lambda: self._side.send(message))

    def on_message(self, handler: Callable[[Any], Any]) -> None:
        """Call ``handler(message)`` for each message from this end; it is not passed on.

        :param handler: plain or ``async``; gets ``str`` or ``bytes``. It replaces the one before.
        """
        self._side.on_message = handler

    def on_close(self, handler: Callable[[int | None, str | None], Any]) -> None:
        """Call ``handler(code, reason)`` when this end closes; the close is not passed on.

        :param handler: plain or ``async``. It replaces the one before.
        """
        self._side.on_close = handler

    def _close(self, code: int | None, reason: str | None) -> None:
        self._adapter.call(lambda: self._side.close(code, reason))

    def _connect(self) -> SocketEnd:
        side: SocketEnd = self._adapter.call(lambda: self._side.socket.connect(self._side))
        return side


class WebSocketRoute(BaseWebSocketRoute):
    """One end of a WebSocket, in blocking tests."""

    def close(self, *, code: int | None = None, reason: str | None = None) -> None:
        """Close this end, with a close code and a reason (RFC 6455, section 5.5.1)."""
        self._close(code, reason)

    def connect_to_server(self) -> WebSocketRoute:
        """Connect to the real server and return its end.

        Messages and closes without a handler pass between the two ends.

        :raises UsageError: the server is connected already, or this is the server's end.
        """
        return WebSocketRoute(self._connect(), self._adapter)


class AsyncWebSocketRoute(BaseWebSocketRoute):
    """One end of a WebSocket, in asyncio and Twisted tests."""

    def close(self, *, code: int | None = None, reason: str | None = None) -> Awaitable[None]:
        """Close this end, with a close code and a reason (RFC 6455, section 5.5.1)."""
        self._close(code, reason)
        done: Awaitable[None] = self._adapter.done()
        return done

    def connect_to_server(self) -> AsyncWebSocketRoute:
        """Connect to the real server; see :meth:`WebSocketRoute.connect_to_server`."""
        return AsyncWebSocketRoute(self._connect(), self._adapter)
