"""
A WebSocket to the measured proxy.

Each message is one write to the kernel, as with the npm clients: several messages in
one write would make the proxy seem cheaper.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

from benchmarks.errors import BenchmarkError
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.frames import FrameReader, client_frame, upgrade_request

_READ_BYTES = 1 << 18
_CONNECT_SECONDS = 10.0


class WebSocketConnection:
    """
    A WebSocket to the target's ``/ws``.

    :param loop: the generator's event loop.
    :param host: of the target.
    :param port: of the target.
    :param receive: called with the payload of each text message.
    :raises BenchmarkError: the handshake fails.
    """

    def __init__(
        self, loop: EventLoop, host: str, port: int, receive: Callable[[bytes], None]
    ) -> None:
        self.socket, rest = _upgraded(host, port)
        self.sent = 0
        self.received = 0
        self._loop = loop
        self._receive = receive
        self._reader = FrameReader()
        self._unsent = bytearray()
        loop.add(self)
        self._take(rest)

    def send(self, frame: bytes) -> None:
        """Write a frame; bytes that the kernel does not accept now are written later, in order."""
        self.sent += 1
        if self._unsent:
            self._unsent += frame
            return
        try:
            written = self.socket.send(frame)
        except BlockingIOError:
            written = 0
        if written < len(frame):
            self._unsent += memoryview(frame)[written:]
            self._loop.want_write(self, wanted=True)

    def send_message(self, message: dict[str, Any]) -> None:
        """Serialise and send a message without a template."""
        self.send(client_frame(json.dumps(message, separators=(",", ":")).encode("ascii")))

    def readable(self) -> None:
        """Read once, and pass complete messages to ``receive``.

        :raises BenchmarkError: the target closed the connection.
        """
        data = self.socket.recv(_READ_BYTES)
        if not data:
            raise BenchmarkError("the target closed a connection")
        self._take(data)

    def writable(self) -> None:
        """Write the bytes that wait."""
        written = self.socket.send(self._unsent)
        del self._unsent[:written]
        if not self._unsent:
            self._loop.want_write(self, wanted=False)

    def close(self) -> None:
        """Close the connection."""
        self._loop.remove(self)
        self.socket.close()

    def _take(self, data: bytes) -> None:
        for payload in self._reader.feed(data):
            self.received += 1
            self._receive(payload)


def _upgraded(host: str, port: int) -> tuple[socket.socket, bytes]:
    """Connect and do the handshake; return the socket and the bytes after the handshake."""
    connection = socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(upgrade_request(host, port))
    answer = b""
    while b"\r\n\r\n" not in answer:
        data = connection.recv(4096)
        if not data:
            raise BenchmarkError(f"the target hung up in the handshake: {answer[:200]!r}")
        answer += data
    head, _, rest = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 101"):
        raise BenchmarkError(f"no WebSocket at /ws: {head[:200]!r}")
    connection.settimeout(0)
    return connection, rest
