"""websocket-client."""

import struct
from typing import Any

import websocket

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order


def act(order: Order) -> dict[str, Any]:
    if order.mode != "ws":
        raise NotAvailableError("it is for WebSockets only")
    socket = websocket.create_connection(
        order.url, timeout=base.SECONDS, subprotocols=["other", "chat"]
    )
    try:
        socket.send("text")
        text = socket.recv()
        socket.send_binary(b"\x00\xff")
        binary = socket.recv()
        socket.send("close")
        _, frame = socket.recv_data(control_frame=True)
        (code,) = struct.unpack("!H", frame[:2])
        return {
            "messages": [text, binary.hex() if isinstance(binary, bytes) else binary],
            "protocol": socket.subprotocol,
            "close": code,
            "reason": frame[2:].decode(),
        }
    finally:
        socket.close()


if __name__ == "__main__":
    base.serve(act)
