"""Backpressure of a WebSocket that a test owns: both of its sides count as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.proxy.websocket.frame_stream import FrameStream


class SocketPace:
    """Stops reading frames while the test lags behind, and holds the test back while a side does.

    The driver finds it among the ``sockets`` of the proxy client
    (:class:`~trafficmock.http.backpressure.FlowControlled`).

    :param socket_id: the WebSocket's id.
    :param proxy_client: the one that announces the WebSocket.
    """

    drained_total = arriving_bytes = 0
    """Nobody asks how far a WebSocket has come: it has no heartbeat of its own."""
    shared: ClassVar[bool] = False

    def __init__(self, socket_id: str, proxy_client: ProxyClient) -> None:
        self.id = socket_id
        self._proxy_client = proxy_client
        self._streams: list[FrameStream] = []
        self._paused = False

    def begin(self) -> None:
        self._proxy_client.sockets[self.id] = self

    def end(self) -> None:
        """Hold nobody back any more, and be held back by nobody."""
        self._proxy_client.sockets.pop(self.id, None)
        self._proxy_client.gateway.socket_gone(self)

    def add(self, stream: FrameStream) -> None:
        """Hold back the frames of one more side."""
        self._streams.append(stream)
        if self._paused:
            stream.pause()

    def pause(self) -> None:
        """Stop reading from both sides: the test that takes their frames lags behind."""
        self._paused = True
        for stream in self._streams:
            stream.pause()

    def resume(self) -> None:
        """Read from both sides again."""
        self._paused = False
        for stream in self._streams:
            stream.resume()

    def backlogged(self) -> None:
        """Hold the test back: a side takes less than it is sent."""
        self._proxy_client.gateway.socket_backlogged(self)

    def drained(self) -> None:
        """Let the test send more."""
        self._proxy_client.gateway.socket_drained(self)
