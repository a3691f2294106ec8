"""Servers in threads that end connections in each way, and keep the bytes that they read."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CLOSE = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
REST = b"HTTP/1.1 200 OK\r\n\r\nrest"
FOLDED = b"HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 2\r\n\r\nok"
_SECONDS = 10.0
IDLE_SECONDS = 0.2
"""After which a connection is ended by the server of ``/idle-fin`` and ``/idle-rst``."""
ODD = {"text": b"no HTTP at all\r\n\r\n", "folded": FOLDED}
_RESET = struct.pack("ii", 1, 0)


class MisbehavingServer:
    """A server whose paths say how it answers: ``/ok``, ``/fin``, ``/rst`` and so on.

    :param context: for TLS; ``None`` for plain HTTP.
    """

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.read: list[bytes] = []
        self.connections = 0
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])

    def heads(self) -> list[str]:
        """Return the request lines that came."""
        return [each.partition(b"\r\n")[0].decode() for each in self.read]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve meanwhile."""
        thread = threading.Thread(target=self._accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._listener.close()
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            thread.join(_SECONDS)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        client.settimeout(_SECONDS)
        opened = client
        with contextlib.suppress(OSError):
            if self._context is not None:
                opened = self._context.wrap_socket(client, server_side=True)
            self.connections += 1
            while self._answer(opened):
                continue
        with contextlib.suppress(OSError):
            opened.close()

    def _answer(self, opened: socket.socket) -> bool:
        head = b""
        while b"\r\n\r\n" not in head:
            data = opened.recv(65536)
            if not data:
                return False
            head += data
        self.read.append(head)
        fate = head.split(b" ", 2)[1].decode().strip("/")
        if fate in {"ok", "close"} or fate.startswith("half"):
            opened.sendall({"ok": OK, "close": CLOSE}.get(fate, HALF))
        if fate.startswith("rest"):
            # Its end is that of the connection, and TLS has none: Python's ssl does without.
            opened.sendall(REST)
        if fate.startswith("idle"):
            opened.sendall(OK)
            time.sleep(IDLE_SECONDS)
        if fate in ODD:
            opened.sendall(ODD[fate])
        if fate.endswith("rst"):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        return fate == "ok"


def tls(certificate: Path, *protocols: str, clients: Path | None = None) -> ssl.SSLContext:
    """Make the TLS context of a server.

    :param protocols: by ALPN.
    :param clients: the certificate that clients must have.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if protocols:
        context.set_alpn_protocols([*protocols])
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    return context


def fingerprint(certificate: Path) -> str:
    """Return the SHA-256 of a certificate in hex."""
    text = certificate.read_text()
    pem = text[: text.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()
