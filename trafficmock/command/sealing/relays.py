"""Passes connections from a listening socket on to an address in the namespace of this process.

A socket belongs to the network namespace in which it was made, whoever accepts its connections. So
a process outside, with a socket that listens inside, is a way out, and the other way round.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from functools import partial

from attrs import field, frozen

_PIECE_BYTES = 64 * 1024


@frozen
class Relay:
    """One way through.

    :param listener: accepts the connections.
    :param host: what they are connected to; so is ``port``.
    :param first_line: is written there before all else.
    """

    listener: socket.socket
    host: str
    port: int
    first_line: bytes = field(default=b"", repr=False)


def start(relays: list[Relay], command: int) -> None:
    """Start a process that passes connections on until the command ends.

    It is no child of the command, which so waits for its own children alone, and it has none of its
    standard files.

    :param command: the process id of the command, which is this process.
    """
    if sys.platform != "linux" or not relays:
        return
    ended = os.pidfd_open(command)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os.close(ended)
        return
    # The exit of the first child gives the second one to init.
    if os.fork():
        os._exit(0)
    try:
        _detach({ended, *(each.listener.fileno() for each in relays)})
        asyncio.run(_serve(relays, ended))
    finally:
        os._exit(0)


def _detach(kept: set[int]) -> None:
    """Close all files but some, and leave the terminal: its Ctrl-C is the command's."""
    if sys.platform != "linux":
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    first = 3
    for number in sorted(kept):
        os.closerange(first, number)
        first = number + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


async def _serve(relays: list[Relay], ended: int) -> None:
    """Pass connections on until a process has ended.

    :param ended: its file descriptor (pidfd_open(2)).
    """
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(ended, over.set)
    servers = [
        await asyncio.start_server(partial(_pass_on, each), sock=each.listener) for each in relays
    ]
    await over.wait()
    for server in servers:
        server.close()


async def _pass_on(
    relay: Relay, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        there, back = await asyncio.open_connection(relay.host, relay.port)
    except OSError:
        # As at a port where nobody listens: the connection is reset.
        writer.transport.abort()
        return
    back.write(relay.first_line)
    await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy bytes to their end, and end the other side as this one ended."""
    try:
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.transport.abort()
