"""A server with a certificate of a private authority, in a thread of the tests."""

import datetime as dt
import ssl
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from trafficmock.certificates.authority import CERTIFICATE, open_authority
from trafficmock.certificates.leaves import LeafMaker
from trafficmock.certificates.names import certificate_name

REFS = f"{'1234567890' * 4}\trefs/heads/main\n"
"""The list of references of a git project, as a plain file server has it."""


class TlsUpstream:
    """Answers every GET with a line that names its path, its ``Host`` and ``over TLS``.

    What git asks for first is answered with :data:`REFS`.

    :param host: whose certificate it shows.
    """

    def __init__(self, host: str) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.ca = Path(self._directory.name) / CERTIFICATE
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.socket = self._context(host).wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_port
        self.authority = f"{host}:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._directory.cleanup()

    def _context(self, host: str) -> ssl.SSLContext:
        now = dt.datetime.now(dt.UTC)
        maker = LeafMaker(open_authority(Path(self._directory.name), now))
        key = maker.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        both = Path(self._directory.name) / "server.pem"
        both.write_bytes(key + maker.make(certificate_name(host), now).public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(both)
        return context


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"{self.path} of {self.headers['host']} over TLS".encode()
        if self.path.partition("?")[0].endswith(".git/info/refs"):
            body = REFS.encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
