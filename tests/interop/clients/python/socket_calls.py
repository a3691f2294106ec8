"""Run as a child, ``socket_calls.py CLIENT``: each line of input has a URL, and maybe a proxy.

For each line a WebSocket is opened, and one line of JSON comes back: the answer to a message, or
the names of the error and of those that caused it.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from typing import Any


def sync(url: str, **more: Any) -> Any:
    from websockets.sync.client import connect
    from websockets.version import version

    if url.startswith("wss:"):
        # The client reads in a thread while it sends, which OpenSSL forbids: with TLS 1.3 one
        # handshake in 1,500 hangs, with and without a proxy.
        trust = ssl.create_default_context()
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        more["ssl_context" if int(version.partition(".")[0]) < 13 else "ssl"] = trust
    with connect(url, **more) as socket:
        socket.send("hello")
        return socket.recv()


def new(url: str, **more: str) -> Any:
    from websockets.asyncio.client import connect

    return asyncio.run(_asked(connect, url, more))


def legacy(url: str, **more: str) -> Any:
    from websockets.legacy.client import connect

    return asyncio.run(_asked(connect, url, more))


async def _asked(connect: Any, url: str, more: dict[str, str]) -> Any:
    async with connect(url, **more) as socket:
        await socket.send("hello")
        return await socket.recv()


def trio(url: str, **more: str) -> Any:
    import trio as library
    from websockets.trio.client import connect

    return library.run(_asked, connect, url, more)


def websocket_client(url: str, proxy: str = "") -> Any:
    import websocket

    host, _, port = proxy.removeprefix("http://").partition(":")
    more: Any = {"http_proxy_host": host, "http_proxy_port": int(port)} if proxy else {}
    socket = websocket.create_connection(url, timeout=20, **more)
    try:
        socket.send("hello")
        return socket.recv()
    finally:
        socket.close()


CALLS = {call.__name__: call for call in (sync, new, legacy, trio, websocket_client)}


def outcome(call: Any, url: str, *proxy: str) -> dict[str, Any]:
    try:
        return {"value": call(url, proxy=proxy[0]) if proxy else call(url)}
    except Exception as error:  # noqa: BLE001 - what the client raises is the result
        return {"error": type(error).__name__, "text": f"{error} {error.__cause__}"}


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(outcome(CALLS[sys.argv[1]], *line.split())) + "\n")
        sys.stdout.flush()
