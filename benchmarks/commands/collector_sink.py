"""A collector that takes what it is sent and keeps nothing, in a process of its own."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no access log."""


@contextlib.contextmanager
def collector() -> Iterator[str]:
    """Start a collector, yield its URL, and end it at the end of the block."""
    command = [sys.executable, "-m", "benchmarks.commands.collector_sink"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield "" if process.stdout is None else process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> None:
    """Serve on a free port of loopback, which is printed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Sink)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
