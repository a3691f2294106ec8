"""A collector on a thread of the test's process."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from attrs import define, field

from tests.support.threaded_server import threaded_server
from tests.telemetry.messages import metrics_of, spans_of


@define(eq=False)
class ReceivedExport:
    """What a collector got.

    :param url: its base URL.
    :param headers: of the last request.
    """

    url: str
    spans: list[Any] = field(factory=list)
    metrics: dict[str, Any] = field(factory=dict)
    headers: dict[str, str] = field(factory=dict)


@contextmanager
def collector(context: ssl.SSLContext | None = None) -> Iterator[ReceivedExport]:
    """Run a collector, which also answers ``GET`` as a server of the application would."""
    received = ReceivedExport("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with suppress(ConnectionError):  # of a proxy that has ended
                super().handle()

        def do_POST(self) -> None:
            body = _body(self.rfile, self.headers)
            if self.headers["content-encoding"] == "gzip":
                body = gzip.decompress(body)
            received.headers = dict(self.headers.items())
            if self.path == "/v1/traces":
                received.spans += spans_of(body)
            else:
                received.metrics = metrics_of(body)
            self._answer(b"")

        def do_GET(self) -> None:
            self._answer(b"here")

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    scheme = "http" if context is None else "https"
    with threaded_server(Handler, context) as port:
        received.url = f"{scheme}://localhost:{port}"
        yield received


def _body(stream: Any, headers: Any) -> bytes:
    """Read the body of a request, chunked or not."""
    if headers["content-length"] is not None:
        body: bytes = stream.read(int(headers["content-length"]))
        return body
    chunks = []
    while size := int(stream.readline(), 16):
        chunks.append(stream.read(size))
        stream.readline()
    stream.readline()
    return b"".join(chunks)
