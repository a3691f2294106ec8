"""An HTTP server on threads of the test's own process."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECONDS = 60.0


@contextmanager
def threaded_server(
    handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Run a server on loopback until the block ends; give its port.

    :param handler: what answers.
    :param context: for TLS; ``None`` for plain HTTP.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(SECONDS)
