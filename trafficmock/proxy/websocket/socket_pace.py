"""Backpressure between a WebSocket that a test owns and the test."""

from __future__ import annotations

from typing import ClassVar

from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.websocket.frame_stream import FrameStream


class SocketPace:
    """Pauses both sides while the test reads too slowly, and the test while a side does.

    It is a :class:`~trafficmock.http.backpressure.FlowControlled` in the ``sockets`` of the proxy
    client, where the driver finds it.

    :param socket_id: the WebSocket's id.
    :param proxy_client: the one that announces the WebSocket.
    """

    drained_total = arriving_bytes = 0
    """Required by ``FlowControlled``, for heartbeats; a WebSocket of the proxy has none."""
    shared: ClassVar[bool] = False

    def __init__(self, socket_id: str, proxy_client: ProxyClient) -> None:
        self.id = socket_id
        self._proxy_client = proxy_client
        self._streams: list[FrameStream] = []
        self._paused = False

    def begin(self) -> None:
        self._proxy_client.sockets[self.id] = self

    def end(self) -> None:
        """End backpressure in both directions."""
        self._proxy_client.sockets.pop(self.id, None)
        self._proxy_client.gateway.socket_gone(self)

    def add(self, stream: FrameStream) -> None:
        """Add a side, which is paused if the test is behind."""
        self._streams.append(stream)
        if self._paused:
            stream.pause()

    def pause(self) -> None:
        """Stop reading from both sides, because the test reads too slowly."""
        self._paused = True
        for stream in self._streams:
            stream.pause()

    def resume(self) -> None:
        """Read from both sides again."""
        self._paused = False
        for stream in self._streams:
            stream.resume()

    def backlogged(self) -> None:
        """Pause the test, because a side reads too slowly."""
        self._proxy_client.gateway.socket_backlogged(self)

    def drained(self) -> None:
        """Resume the test."""
        self._proxy_client.gateway.socket_drained(self)
