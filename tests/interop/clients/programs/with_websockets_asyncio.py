"""websockets, its client for asyncio."""

import asyncio
import os
import ssl
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order


async def _talk(url: str) -> dict[str, Any]:
    trust = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
    secure: dict[str, Any] = {"ssl": trust} if url.startswith("wss:") else {}
    offered = [Subprotocol("other"), Subprotocol("chat")]
    async with connect(url, subprotocols=offered, open_timeout=base.SECONDS, **secure) as socket:
        await socket.send("text")
        text = await socket.recv()
        await socket.send(b"\x00\xff")
        binary = await socket.recv()
        await socket.send("close")
        with suppress(ConnectionClosed):
            await socket.recv()
        return {
            "messages": [text, binary.hex() if isinstance(binary, bytes) else binary],
            "protocol": socket.subprotocol,
            "close": socket.close_code,
            "reason": socket.close_reason,
        }


def act(order: Order) -> dict[str, Any]:
    if order.mode != "ws":
        raise NotAvailableError("it is for WebSockets only")
    return asyncio.run(_talk(order.url))


if __name__ == "__main__":
    base.serve(act)
