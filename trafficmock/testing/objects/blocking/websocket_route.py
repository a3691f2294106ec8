# Written from async_websocket_route.py by tools/blocking_api.py: do not edit.
"""The argument of a WebSocket handler (Playwright's ``WebSocketRoute``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trafficmock.testing.keywords import methods_check_keywords
from trafficmock.testing.session.handlers.websocket_routes import SocketEnd

if TYPE_CHECKING:
    from trafficmock.testing.objects.blocking.caller import Caller


@methods_check_keywords
class WebSocketRoute:
    """One end of a WebSocket that a handler answers, in blocking tests.

    It is the application's end, or the real server's.
    """

    def __init__(self, side: SocketEnd, adapter: Caller) -> None:
        self._side = side
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._side.name} {self._side.socket.shown_url}>"

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

    def close(self, *, code: int | None = None, reason: str | None = None) -> None:
        """Close this end, with a close code and a reason (RFC 6455, section 5.5.1)."""
        self._adapter.call(lambda: self._side.close(code, reason))
        return self._adapter.done()

    def connect_to_server(self) -> WebSocketRoute:
        """Connect to the real server and return its end.

        Messages and closes without a handler pass between the two ends.

        :raises UsageError: the server is connected already, or this is the server's end.
        """
        side = self._adapter.call(lambda: self._side.socket.connect(self._side))
        return WebSocketRoute(side, self._adapter)
