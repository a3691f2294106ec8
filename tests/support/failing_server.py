"""A server whose answers break, each as the path of its request says."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import frozen

from trafficmock.wire.payloads.answer import FaultKind

PART = b"first"
WHOLE = PART + b" and second"
SECONDS = 30.0
_READING_SECONDS = 0.3
"""In which a client reads the part before a reset: what it has not read may be lost."""
_RESET = struct.pack("ii", 1, 0)
"""A linger of no time makes the close of a socket a reset."""


@frozen
class ServerFault:
    """
    A fault of an answer.

    :param has_part: whether the head and :data:`PART` come before it.
    """

    kind: FaultKind
    has_part: bool

    @property
    def path(self) -> str:
        """The path of which the failing server's answer has the fault."""
        return f"/{self.kind}/{'part' if self.has_part else 'nothing'}"

    @property
    def after(self) -> int | None:
        """The option ``after`` of a mock that fails so."""
        return len(PART) if self.has_part else None


SERVER_FAULTS = (
    ServerFault("connection_reset", has_part=False),
    ServerFault("connection_reset", has_part=True),
    ServerFault("empty_response", has_part=False),
    ServerFault("truncated", has_part=True),
    ServerFault("malformed_chunk", has_part=True),
    ServerFault("stall", has_part=True),
)
_FAULTS = {fault.path: fault for fault in SERVER_FAULTS}


@contextmanager
def failing_server(context: ssl.SSLContext | None = None) -> Iterator[int]:
    """
    Serve until the block ends: faults by their path, and the whole body at any other one.

    :param context: for TLS; ``None`` for plain HTTP.
    :returns: the port on loopback.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []
    ended = threading.Event()

    def accept() -> None:
        while True:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            threads.append(
                threading.Thread(target=_answer, args=(peer, context, ended), daemon=True)
            )
            threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield listening.getsockname()[1]
    finally:
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for each in (accepting, *threads):
            each.join(SECONDS)


def _answer(peer: socket.socket, context: ssl.SSLContext | None, ended: threading.Event) -> None:
    peer.settimeout(SECONDS)
    try:
        if context is not None:
            peer = context.wrap_socket(peer, server_side=True)
        # Clients may open connections on which they ask nothing.
        while words := peer.recv(65536).split():
            fault = _FAULTS.get(words[1].decode())
            if fault is not None:
                _break(peer, fault, ended)
                return
            peer.sendall(_head(f"content-length: {len(WHOLE)}") + WHOLE)
    except OSError:
        # The client left before, which is its right.
        return
    finally:
        peer.close()


def _break(peer: socket.socket, fault: ServerFault, ended: threading.Event) -> None:
    if fault.kind == "malformed_chunk":
        peer.sendall(_head("transfer-encoding: chunked") + b"5\r\nfirst\r\nno size of a chunk\r\n")
    elif fault.has_part:
        peer.sendall(_head(f"content-length: {len(WHOLE)}") + PART)
    if fault.kind == "stall":
        ended.wait(SECONDS)
    elif fault.kind == "connection_reset":
        ended.wait(_READING_SECONDS if fault.has_part else 0)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


def _head(framing: str) -> bytes:
    return f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n".encode()
