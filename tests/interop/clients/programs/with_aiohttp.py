"""aiohttp, its WebSockets included."""

import asyncio
import os
import ssl
import sys
from typing import Any

import aiohttp

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import Order, Sum, summed


async def _http(session: aiohttp.ClientSession, order: Order) -> dict[str, Any]:
    async with session.request(
        order.method,
        order.url,
        headers=list(order.headers),
        data=_pieces(order) if order.streamed else order.text,
        allow_redirects=order.follow,
    ) as response:
        if order.mode == "sse":
            return await _events(session, order, response)
        total = Sum()
        async for piece in response.content.iter_any():
            total.add(piece)
        pairs = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in response.raw_headers]
        return summed(response.status, pairs, total)


async def _pieces(order: Order) -> Any:
    for piece in order.pieces():
        yield piece


async def _events(
    session: aiohttp.ClientSession, order: Order, response: aiohttp.ClientResponse
) -> dict[str, Any]:
    seen = []
    async for line in response.content:
        if line.startswith(b"data:"):
            seen.append(line[5:].decode().strip())
            await (await session.get(order.following_url)).read()
    return {"events": seen}


async def _websocket(session: aiohttp.ClientSession, order: Order) -> dict[str, Any]:
    async with session.ws_connect(order.url, protocols=("other", "chat")) as socket:
        await socket.send_str("text")
        text = await socket.receive(10)
        await socket.send_bytes(b"\x00\xff")
        binary = await socket.receive(10)
        await socket.send_str("close")
        closed = await socket.receive(10)
        return {
            "messages": [text.data, binary.data.hex()],
            "protocol": socket.protocol,
            "close": socket.close_code,
            "reason": closed.extra,
        }


async def main() -> None:
    loop = asyncio.get_running_loop()
    trust = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
    connector = aiohttp.TCPConnector(ssl=trust)
    timeout = aiohttp.ClientTimeout(base.SECONDS)
    async with aiohttp.ClientSession(
        trust_env=True, connector=connector, timeout=timeout, auto_decompress=False
    ) as session:
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            order = Order.read(line)
            try:
                act = _websocket if order.mode == "ws" else _http
                answer = await act(session, order)
            except Exception as error:  # noqa: BLE001 - what the client raises is the result
                answer = base.failed(error)
            base.send(answer)


if __name__ == "__main__":
    asyncio.run(main())
