"""
``python -m benchmarks.forward.upstream FOLDER``: the upstream server.

It answers ``/NUMBER/anything`` with that many bytes. It makes a certificate, writes it
to ``FOLDER/upstream.pem``, prints one JSON line with its two ports and serves until its
standard input ends.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from functools import cache
from pathlib import Path

from tests.support.self_signed import write_certificate

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length:"


class Server(asyncio.Protocol):
    """One connection: reads requests, discards their bodies, answers from memory."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._body_left = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for answers."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request when the last byte of its body has come."""
        if self._body_left >= len(data):
            self._body_left -= len(data)
            if self._body_left == 0:
                self._answer()
            return
        if self._body_left:
            data = data[self._body_left :]
            self._body_left = 0
            self._answer()
        self._buffer += data
        self._heads()

    def _heads(self) -> None:
        while (end := self._buffer.find(_END_OF_HEAD)) >= 0:
            head = bytes(self._buffer[:end])
            del self._buffer[: end + len(_END_OF_HEAD)]
            self._wanted = int(head.split(b"/", 2)[1])
            length = _content_length(head)
            here = min(length, len(self._buffer))
            del self._buffer[:here]
            self._body_left = length - here
            if self._body_left:
                return
            self._answer()

    def _answer(self) -> None:
        if self._transport is not None:
            self._transport.write(answer(self._wanted))


def _content_length(head: bytes) -> int:
    _, found, rest = head.lower().partition(_LENGTH)
    return int(rest.split(b"\r\n", 1)[0]) if found else 0


@cache
def answer(length: int) -> bytes:
    """Return a response with a JSON body of ``length`` bytes."""
    body = b'"' + b"x" * (length - 2) + b'"'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % length + body


async def serve(folder: Path) -> None:
    """Listen on two free ports until standard input ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(write_certificate(folder))
    context.set_alpn_protocols(["http/1.1"])
    loop = asyncio.get_running_loop()
    plain = await loop.create_server(Server, "127.0.0.1", 0, backlog=1024)
    secure = await loop.create_server(Server, "127.0.0.1", 0, backlog=1024, ssl=context)
    ports = [server.sockets[0].getsockname()[1] for server in (plain, secure)]
    print(json.dumps({"plain": ports[0], "secure": ports[1]}), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
