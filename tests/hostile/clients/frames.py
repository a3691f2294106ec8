"""WebSocket frames by hand (RFC 6455 section 5.2), so that every bit of them can be wrong."""

import json
import struct
from typing import Any

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_FIN, _MASKED = 0x80, 0x80
_MASK = b"\0\0\0\0"
"""A mask that changes nothing is one that RFC 6455 allows."""


def frame(
    payload: bytes = b"",
    *,
    opcode: int = TEXT,
    fin: bool = True,
    reserved: int = 0,
    masked: bool = True,
    length: int | None = None,
    length_bytes: int | None = None,
) -> bytes:
    """Write a client's frame.

    :param reserved: the three reserved bits, 4 is the one of compression.
    :param length: what the header says, if not the truth.
    :param length_bytes: 0, 2 or 8, if not the shortest form.
    """
    declared = len(payload) if length is None else length
    if length_bytes is None:
        length_bytes = 0 if declared < 126 else 2 if declared < 1 << 16 else 8
    first = (_FIN if fin else 0) | reserved << 4 | opcode
    mask_bit = _MASKED if masked else 0
    if length_bytes == 8:
        head = struct.pack("!BBQ", first, mask_bit | 127, declared)
    elif length_bytes == 2:
        head = struct.pack("!BBH", first, mask_bit | 126, declared)
    else:
        head = bytes([first, mask_bit | declared])
    return head + (_MASK if masked else b"") + payload


def text(message: Any) -> bytes:
    """Write a message as one frame."""
    return frame(json.dumps(message, separators=(",", ":")).encode())


def take_frame(buffer: bytearray) -> tuple[int, bytes] | None:
    """Take a server's frame off the front of ``buffer``.

    :returns: the first byte of the frame and its payload; nothing while it is not whole.
    """
    if len(buffer) < 2:
        return None
    start, length = 2, buffer[1]
    if length >= 126:
        start = 4 if length == 126 else 10
        if len(buffer) < start:
            return None
        length = int.from_bytes(buffer[2:start], "big")
    if len(buffer) < start + length:
        return None
    first, payload = buffer[0], bytes(buffer[start : start + length])
    del buffer[: start + length]
    return first, payload
