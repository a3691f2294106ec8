"""websockets, which takes the proxy from the environment by itself."""

import os
import ssl
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order


def act(order: Order) -> dict[str, Any]:
    if order.mode != "ws":
        raise NotAvailableError("it is for WebSockets only")
    trust = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
    # The library reads in a thread while it sends its handshake. OpenSSL allows no two threads in
    # one connection: with TLS 1.3, one handshake in 1,500 meets the server's session tickets and
    # hangs, with and without a proxy. TLS 1.2 sends nothing then.
    trust.maximum_version = ssl.TLSVersion.TLSv1_2
    secure = order.url.startswith("wss:")
    offered = [Subprotocol("other"), Subprotocol("chat")]
    with connect(
        order.url,
        ssl=trust if secure else None,
        subprotocols=offered,
        open_timeout=base.SECONDS,
    ) as socket:
        socket.send("text")
        text = socket.recv(10)
        socket.send(b"\x00\xff")
        binary = socket.recv(10)
        socket.send("close")
        with suppress(ConnectionClosed):
            socket.recv(10)
        return {
            "messages": [text, binary.hex() if isinstance(binary, bytes) else binary],
            "protocol": socket.subprotocol,
            "close": socket.close_code,
            "reason": socket.close_reason,
        }


if __name__ == "__main__":
    base.serve(act)
