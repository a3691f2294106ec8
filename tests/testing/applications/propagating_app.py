"""Run as a child: an application that carries W3C Baggage on, as instrumented ones do.

``/price`` asks a service that does not exist; ``/meet`` answers when as many ask it as it says.
The address is printed as one JSON line.
"""

import json
import sys
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

PRICES = "http://prices.test/teapot"
SECONDS = 30.0

_lock = threading.Lock()
_barriers: dict[tuple[str, int], threading.Barrier] = defaultdict()


def price(query: str, baggage: str) -> bytes:
    """Ask for the price, with what came in."""
    asked = Request(
        f"{PRICES}?{query}" if query else PRICES, headers={"baggage": baggage} if baggage else {}
    )
    try:
        with urlopen(asked, timeout=SECONDS) as answer:
            found: bytes = answer.read()
            return found
    except HTTPError as error:
        return b"failed: " + error.read()


def meet(name: str, count: int) -> None:
    """Wait until this was called so often."""
    with _lock:
        barrier = _barriers.setdefault((name, count), threading.Barrier(count, timeout=SECONDS))
    barrier.wait()


class Handler(BaseHTTPRequestHandler):
    """Answers, quietly."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        body = b""
        if url.path == "/price":
            body = price(url.query, ", ".join(self.headers.get_all("baggage", [])))
        else:
            query = parse_qs(url.query)
            meet(query["name"][0], int(query["count"][0]))
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
    sys.stdout.flush()
    server.serve_forever()
