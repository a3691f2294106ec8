"""The sites that the pages talk to: an application, its API on a host of its own, a third party."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from attrs import define, field, frozen

PAGES = Path(__file__).parent / "pages"
HOSTS = {"app": "app.test", "api": "api.app.test", "third": "third.test"}
KEPT = 200
"""Scripts of the page whose scripts may be kept."""
SECONDS = 20.0

_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_STEPS = b"<!doctype html><body><script type=module src=/steps.mjs></script>"
_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@frozen
class Seen:
    """A request as it arrived."""

    site: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]

    def baggage(self) -> str:
        return ", ".join(value for name, value in self.headers if name.lower() == "baggage")


@define
class Visit:
    """What the sites have seen of one browser, and what its page reports."""

    seen: list[Seen] = field(factory=list)
    report: dict[str, Any] = field(factory=dict)
    ended: threading.Event = field(factory=threading.Event)
    changed: threading.Condition = field(factory=threading.Condition)

    def add(self, seen: Seen) -> None:
        with self.changed:
            self.seen.append(seen)
            self.changed.notify_all()

    def has_seen(self, path: str) -> bool:
        """Wait until a path has been asked for; tell whether it was."""
        with self.changed:
            return self.changed.wait_for(
                lambda: any(each.path == path for each in self.seen), SECONDS
            )

    def of(self, *sites: str) -> list[Seen]:
        """Select the requests of sites."""
        return [each for each in self.seen if each.site in sites]

    def preflights(self) -> Counter[tuple[str, str]]:
        """Count the preflights, by site and path."""
        return Counter((each.site, each.path) for each in self.seen if each.method == "OPTIONS")

    def asked(self) -> set[tuple[str, str, str]]:
        """Tell what the steps asked for: site, method and path."""
        return {
            (each.site, each.method, each.path) for each in self.seen if each.path.startswith("/s/")
        }

    def kept(self) -> int:
        """Count the requests for scripts that may be kept."""
        return sum(each.path.startswith("/kept/") for each in self.seen)


class Site(BaseHTTPRequestHandler):
    """Answers by the extension of the path, and keeps what was asked."""

    protocol_version = "HTTP/1.1"
    server: SiteServer

    def do_GET(self) -> None:
        """Answer."""
        target = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(target.query).items()}
        headers = tuple(self.headers.items())
        self.server.visit.add(Seen(self.server.site, self.command, target.path, headers))
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.headers["Upgrade"]:
            self._accept_websocket()
        elif self.command == "OPTIONS":
            self._answer(204, "text/plain", b"")
        elif "to" in query:
            self._answer(302, "text/plain", b"", {"Location": query["to"]})
        else:
            self._answer(200, *self._content(target.path, query, body), self._caching())

    do_POST = do_PUT = do_OPTIONS = do_GET  # noqa: N815 - the library's names

    def _content(self, path: str, query: dict[str, str], body: bytes) -> tuple[str, bytes]:
        visit = self.server.visit
        kind, answer = "text/plain", b""
        match path:
            case "/steps":
                kind, answer = "text/html", _STEPS
            case "/steps.mjs":
                kind, answer = "text/javascript", (PAGES / "steps.mjs").read_bytes()
            case "/seen":
                answer = b"1" if visit.has_seen(query["path"]) else b"0"
            case "/report":
                visit.report = json.loads(body)
            case "/kept":
                kind, answer = "text/html", _kept_page(int(query["turn"]))
            case "/end":
                visit.ended.set()
            case _:
                make = _CONTENTS.get(path.rpartition(".")[2], lambda _: ("text/plain", b"text"))
                kind, answer = make(query)
        return kind, answer

    def _caching(self) -> dict[str, str]:
        is_kept = self.path.startswith("/kept/")
        return {"Cache-Control": "max-age=3600" if is_kept else "no-store"}

    def _answer(
        self, status: int, kind: str, body: bytes, more: dict[str, str] | None = None
    ) -> None:
        headers = {"Content-Type": kind, **(more or {}), **self._cors()}
        if status != 204:
            headers["Content-Length"] = str(len(body))
        self._head(status, headers)
        self.wfile.write(body)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _cors(self) -> dict[str, str]:
        """Allow what such a site allows: the API its application's pages, with JSON."""
        if self.server.site == "app" or not self.headers["Origin"]:
            return {}
        allowed = {
            "Access-Control-Allow-Headers": "content-type",
            "Access-Control-Allow-Methods": "GET, POST, PUT",
        }
        if self.server.site == "third":
            return {**allowed, "Access-Control-Allow-Origin": "*"}
        return {
            **allowed,
            "Access-Control-Allow-Origin": self.headers["Origin"],
            "Access-Control-Allow-Credentials": "true",
        }

    def _accept_websocket(self) -> None:
        """Take the handshake, and send one message."""
        key = hashlib.sha1(self.headers["Sec-WebSocket-Key"].encode() + _KEY).digest()  # noqa: S324 - RFC 6455's
        accept = base64.b64encode(key).decode()
        self._head(
            101,
            {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept},
        )
        self.wfile.write(b"\x81\x04text")
        self.rfile.read(1)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


class SiteServer(ThreadingHTTPServer):
    """One site.

    :param site: which one: a key of :data:`HOSTS`.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, site: str, visit: Visit) -> None:
        super().__init__(("127.0.0.1", 0), Site)
        self.site = site
        self.visit = visit

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet about connections that the browser cuts."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@frozen
class Sites:
    """Three sites that run."""

    ports: dict[str, int]
    visit: Visit

    def origin(self, site: str) -> str:
        return f"http://{HOSTS[site]}:{self.ports[site]}"

    def page(self) -> str:
        """Give the URL of the page that makes the requests."""
        return f"{self.origin('app')}/steps?api={self.origin('api')}&third={self.origin('third')}"


@contextmanager
def serving() -> Iterator[Sites]:
    """Run the sites until the block ends."""
    visit = Visit()
    with ExitStack() as stack:
        ports = {site: stack.enter_context(_running(SiteServer(site, visit))) for site in HOSTS}
        yield Sites(ports, visit)


@contextmanager
def _running(server: SiteServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        server.server_close()
        thread.join(SECONDS)


def _page(_: dict[str, str]) -> tuple[str, bytes]:
    return (
        "text/html",
        b"<!doctype html><script>(opener || parent).postMessage(location.pathname, '*')</script>",
    )


def _style(query: dict[str, str]) -> tuple[str, bytes]:
    imported = f"@import url({json.dumps(query['import'])});\n" if "import" in query else ""
    image = f"body {{ background: url({json.dumps(query['image'])}) }}" if "image" in query else ""
    return "text/css", (imported + image).encode()


def _module(query: dict[str, str]) -> tuple[str, bytes]:
    imported = f"import {json.dumps(query['import'])}\n" if "import" in query else ""
    return "text/javascript", f"{imported}export const loaded = true\n".encode()


def _script(_: dict[str, str]) -> tuple[str, bytes]:
    return "text/javascript", (PAGES / "worker.js").read_bytes()


def _kept_page(turn: int) -> bytes:
    """Make a page with many scripts, that goes on by itself when they are loaded."""
    scripts = "".join(f"<script src=/kept/{number}.js></script>" for number in range(KEPT))
    then = "location.href = '/kept?turn=2'" if turn == 1 else "fetch('/end')"
    # Not within the load event: that navigation would take the place of this one.
    onload = html.escape(f"setTimeout(() => {{ {then} }})")
    return f'<!doctype html><body onload="{onload}">{scripts}'.encode()


_CONTENTS: dict[str, Callable[[dict[str, str]], tuple[str, bytes]]] = {
    "css": _style,
    "events": lambda _: ("text/event-stream", b"data: line\n\n"),
    "html": _page,
    "js": _script,
    "mjs": _module,
    "mp4": lambda _: ("video/mp4", b""),
    "png": lambda _: ("image/png", _PIXEL),
    "svg": lambda _: ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>'),
    "woff2": lambda _: ("font/woff2", b""),
}
"""By extension: makes the type and the body of an answer, by the query."""
