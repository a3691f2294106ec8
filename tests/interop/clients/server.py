"""
``python -m tests.interop.clients.server CERTIFICATE``: the server that the clients ask.

Prints one JSON line with its two ports and serves until its standard input ends.
"""

import asyncio
import gzip
import json
import ssl
import sys
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator

from aiohttp import WSMsgType, web

PIECE = b"0123456789abcdef" * 1024
_released: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))


async def echo(request: web.Request) -> web.Response:
    """Tell what has come; of a large body only its size and checksum."""
    size = crc = 0
    start = b""
    async for data in request.content.iter_any():
        size += len(data)
        crc = zlib.crc32(data, crc)
        start += data[: 1000 - len(start)]
    return web.json_response(
        {
            "method": request.method,
            "target": request.raw_path,
            "headers": [[n.decode().lower(), v.decode("latin-1")] for n, v in request.raw_headers],
            "size": size,
            "crc": crc,
            "text": start.decode("latin-1"),
        }
    )


async def large(request: web.Request) -> web.Response:
    """Send so many bytes, with their length."""
    return web.Response(
        body=_pieces(int(request.match_info["size"])),
        headers={"content-length": request.match_info["size"]},
    )


async def _pieces(size: int) -> AsyncIterator[bytes]:
    while size:
        piece = PIECE[:size]
        size -= len(piece)
        yield piece


async def chunked(request: web.Request) -> web.StreamResponse:
    """Send a body in chunks."""
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    for number in range(5):
        await response.write(b"chunk %d;" % number)
    await response.write_eof()
    return response


async def events(request: web.Request) -> web.StreamResponse:
    """Send three events, each but the first only when the one before has arrived."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for number in range(3):
        await response.write(b"data: event %d\n\n" % number)
        async with asyncio.timeout(15):
            await _released[request.match_info["name"]].acquire()
    return response


async def release(request: web.Request) -> web.Response:
    """Let the next event go."""
    _released[request.match_info["name"]].release()
    return web.Response(text="released")


async def status(request: web.Request) -> web.Response:
    """Answer with this status."""
    code = int(request.match_info["code"])
    return web.Response(status=code, headers={"etag": '"1"'})


async def head(_: web.Request) -> web.Response:
    """Answer with a length, whatever the method."""
    return web.Response(body=b"x" * 1234)


async def redirect(_: web.Request) -> web.Response:
    """Send elsewhere."""
    return web.Response(status=302, headers={"location": "/echo?redirected"})


async def zipped(_: web.Request) -> web.Response:
    """Answer with gzip."""
    body = gzip.compress(b"was gzip", mtime=0)
    return web.Response(body=body, headers={"content-encoding": "gzip", "x-size": str(len(body))})


async def cookies(_: web.Request) -> web.Response:
    """Answer with repeated headers."""
    response = web.Response(text="cookies")
    for name, value in (("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-r", "1"), ("x-r", "2")):
        response.headers.add(name, value)
    return response


async def websocket(request: web.Request) -> web.WebSocketResponse:
    """Send everything back, until told to close."""
    socket = web.WebSocketResponse(protocols=("chat",))
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT and message.data == "close":
            await socket.close(code=4321, message=b"as told")
        elif message.type is WSMsgType.TEXT:
            await socket.send_str(f"echo {message.data}")
        elif message.type is WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    return socket


async def serve(certificate: str) -> None:
    """Listen on two free ports until standard input ends."""
    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/echo", echo)
    app.router.add_get("/large/{size}", large)
    app.router.add_get("/chunked", chunked)
    app.router.add_get("/events/{name}", events)
    app.router.add_get("/release/{name}", release)
    app.router.add_get("/status/{code}", status)
    app.router.add_get("/head", head)
    app.router.add_get("/redirect", redirect)
    app.router.add_get("/zipped", zipped)
    app.router.add_get("/cookies", cookies)
    app.router.add_get("/socket", websocket)
    app.router.add_get("/connected-socket", websocket)
    runner = web.AppRunner(app, auto_decompress=False)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    plain = web.TCPSite(runner, "127.0.0.1", 0)
    secure = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await plain.start()
    await secure.start()
    ports = [address[1] for address in runner.addresses]
    sys.stdout.write(json.dumps({"http": ports[0], "https": ports[1]}) + "\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
