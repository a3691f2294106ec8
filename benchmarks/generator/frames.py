"""
WebSocket framing for a client that must be cheaper than the server that it measures.

It has only the parts of RFC 6455 that the clients need: masked text frames to the
server, whole unmasked text frames from it, and it ignores pings and pongs. Any
other frame is an error, because fragments and closes are not part of the loads.
"""

from __future__ import annotations

import base64
import os
import struct

from benchmarks.errors import BenchmarkError

# One octet repeated four times is a valid mask, and makes masking independent
# of the position in the payload: fixed parts of a message are masked once.
# It must not be zero, because servers may then skip their unmasking.
MASK_OCTET = 0x37
_MASKED = bytes(octet ^ MASK_OCTET for octet in range(256))
_MASK_KEY = bytes([MASK_OCTET] * 4)

_TEXT_FINAL = 0x81
_CLOSE_FINAL = 0x88
_CONTROL_FINAL = (0x89, 0x8A)


def mask(payload: bytes) -> bytes:
    """Mask (or unmask) ``payload`` with the constant key."""
    return payload.translate(_MASKED)


def client_header(length: int) -> bytes:
    """Build the header of one masked, whole text frame of ``length`` bytes (RFC 6455, 5.2)."""
    if length < 126:
        return struct.pack("!BB", _TEXT_FINAL, 0x80 | length) + _MASK_KEY
    if length < 65536:
        return struct.pack("!BBH", _TEXT_FINAL, 0x80 | 126, length) + _MASK_KEY
    return struct.pack("!BBQ", _TEXT_FINAL, 0x80 | 127, length) + _MASK_KEY


def client_frame(payload: bytes) -> bytes:
    """Build one masked text frame with ``payload``."""
    return client_header(len(payload)) + mask(payload)


def upgrade_request(host: str, port: int) -> bytes:
    """Build the opening handshake for ``/ws`` (RFC 6455, 4.1), without extensions."""
    key = base64.b64encode(os.urandom(16)).decode("ascii")
    return (
        f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    ).encode("ascii")


class FrameReader:
    """
    Cuts a server's byte stream into text messages.

    Bytes of an incomplete frame are kept until it is complete. Nothing is parsed
    twice, so the time stays linear for messages of many megabytes.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._needed = 0

    def feed(self, data: bytes) -> list[bytes]:
        """
        Add received bytes.

        :param data: bytes in the order of the stream.
        :returns: the payloads of the text frames that are now complete.
        :raises BenchmarkError: the server sent a close frame, a fragment or a masked frame.
        """
        buffer: bytes | bytearray = data
        if self._pending:
            self._pending += data
            if len(self._pending) < self._needed:
                return []
            buffer = self._pending
        messages: list[bytes] = []
        start = 0
        while (span := _frame_span(buffer, start)) is not None:
            body, end = span
            if end > len(buffer):
                self._needed = end - start
                break
            if _is_message(buffer, start, body, end):
                messages.append(bytes(buffer[body:end]))
            start = end
        else:
            self._needed = 0
        self._pending = bytearray(buffer[start:]) if start < len(buffer) else bytearray()
        return messages


def _frame_span(buffer: bytes | bytearray, start: int) -> tuple[int, int] | None:
    """Return where the payload of the frame at ``start`` begins and ends.

    :returns: ``None`` if the header is incomplete.
    :raises BenchmarkError: the frame is masked.
    """
    have = len(buffer) - start
    if have < 2:
        return None
    length = buffer[start + 1]
    if length < 126:
        return start + 2, start + 2 + length
    if length == 126:
        if have < 4:
            return None
        return start + 4, start + 4 + int.from_bytes(buffer[start + 2 : start + 4], "big")
    if length > 127:
        raise BenchmarkError("the server masked a frame")
    if have < 10:
        return None
    return start + 10, start + 10 + int.from_bytes(buffer[start + 2 : start + 10], "big")


def _is_message(buffer: bytes | bytearray, start: int, body: int, end: int) -> bool:
    """Return whether the frame is a text message; ``False`` for a ping or pong.

    :raises BenchmarkError: the frame is of another kind.
    """
    kind = buffer[start]
    if kind == _TEXT_FINAL:
        return True
    if kind == _CLOSE_FINAL:
        code = int.from_bytes(buffer[body : body + 2], "big") if end - body >= 2 else 1005
        reason = bytes(buffer[body + 2 : end]).decode("utf-8", "replace")
        raise BenchmarkError(f"the server closed the WebSocket: {code} {reason}".rstrip())
    if kind in _CONTROL_FINAL:
        return False
    raise BenchmarkError(f"unexpected frame with first octet {kind:#04x}")
