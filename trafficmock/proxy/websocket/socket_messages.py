"""Converts WebSocket messages to the frames of protocol 3: text as it is, bytes in base64."""

from __future__ import annotations

import base64
import binascii

from trafficmock.wire import inbound
from trafficmock.wire.inbound import SocketFrame


def content(frame: SocketFrame) -> str | bytes:
    """Return the message in a frame of protocol 3; invalid base64 is an empty one."""
    if not frame.is_base64:
        return frame.data
    try:
        return base64.b64decode(frame.data)
    except (binascii.Error, ValueError):
        return b""


def message_of(
    kind: type[inbound.MessageFromPage | inbound.MessageFromServer],
    socket_id: str,
    data: str | bytes,
) -> SocketFrame:
    """Make the frame of protocol 3 for a WebSocket message."""
    if isinstance(data, str):
        return kind(socket_id, data, is_base64=False)
    return kind(socket_id, base64.b64encode(data).decode("ascii"), is_base64=True)
