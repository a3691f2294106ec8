"""A blocking client of ``/ws`` for tests of the whole process; it speaks RFC 6455 just enough."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any
from urllib.parse import urlsplit

from attrs import define, field

SECONDS = 60.0
_HANDSHAKE = (
    "GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_TEXT, _CLOSE = 0x81, 0x88
_MASK = b"\0\0\0\0"
"""A mask that changes nothing is one that RFC 6455 allows."""


@define
class RawClient:
    """One connection, from its handshake on."""

    _socket: socket.socket = field(repr=False)
    _buffer: bytes = b""

    @classmethod
    def connect(cls, url: str) -> RawClient:
        """Open a connection to the service with this base URL."""
        target = urlsplit(url)
        assert target.hostname is not None
        assert target.port is not None
        connection = socket.create_connection((target.hostname, target.port), SECONDS)
        client = cls(connection)
        connection.sendall(_HANDSHAKE.format(host=target.netloc).encode())
        while b"\r\n\r\n" not in client._buffer:
            client._read_some()
        head, client._buffer = client._buffer.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 101 "), head
        return client

    def close(self) -> None:
        """Drop the connection."""
        self._socket.close()

    def hello(self, role: str, **more: Any) -> dict[str, Any]:
        """Say hello; give the answer."""
        self.send(type="hello", protocolVersion=3, packageVersion="0.1.0", role=role, **more)
        return self.receive()

    def send(self, **message: Any) -> None:
        """Send one message."""
        payload = json.dumps(message).encode()
        length = struct.pack("!BH", 0x80 | 126, len(payload))
        if len(payload) <= 125:
            length = bytes([0x80 | len(payload)])
        self._socket.sendall(bytes([_TEXT]) + length + _MASK + payload)

    def receive(self) -> dict[str, Any]:
        """Wait for one message."""
        opcode, payload = self.frame()
        assert opcode == _TEXT, (opcode, payload)
        message: dict[str, Any] = json.loads(payload)
        return message

    def close_code(self) -> int:
        """Wait for the close; give its code."""
        opcode, payload = self.frame()
        assert opcode == _CLOSE, (opcode, payload)
        return int.from_bytes(payload[:2])

    def frame(self) -> tuple[int, bytes]:
        """Wait for one frame: its first byte and its payload."""
        opcode, length = self._take(2)
        if length == 126:
            length = int.from_bytes(self._take(2))
        elif length == 127:
            length = int.from_bytes(self._take(8))
        return opcode, self._take(length)

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._read_some()
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def _read_some(self) -> None:
        chunk = self._socket.recv(65536)
        assert chunk, f"the service closed the connection after {self._buffer!r}"
        self._buffer += chunk
