"""A browser that comes in by a browser proxy."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from tests.support.raw_client import RawClient

CONTEXT = "1" * 32
MEMBER = f"trafficmock.test={CONTEXT}"
SECONDS = 180.0
PATIENT = ("--heartbeat-ms=3600000", "--idle-timeout-ms=7200000")
"""Workers that answer no pings, however long a page takes."""


class Server(BaseHTTPRequestHandler):
    """A page with a script that may be kept, and answers that say what a request carried."""

    protocol_version = "HTTP/1.1"
    server: SeenServer

    def do_GET(self) -> None:
        """Answer."""
        self.server.seen.append((f"{self.command} {self.path}", dict(self.headers.items())))
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        is_page = self.path.startswith("/page")
        is_kept = self.path == "/kept.js"
        page = "<script src=/kept.js></script>"
        body = (page if is_page else "0" if is_kept else str(self.headers["baggage"])).encode()
        self.send_response(200)
        for name, value in {
            "Content-Type": "text/html" if is_page else "text/javascript",
            "Content-Length": str(len(body)),
            "Cache-Control": "max-age=3600" if is_kept else "no-store",
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Headers": "x-own",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_OPTIONS = do_GET  # noqa: N815 - the library's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""


class SeenServer(ThreadingHTTPServer):
    """Keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Server)
        self.seen: list[tuple[str, dict[str, str]]] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet about connections that the browser cuts."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def asked(self) -> list[str]:
        """List what was asked, in order."""
        return [line for line, _ in self.seen]


@contextmanager
def serving() -> Iterator[SeenServer]:
    """Run a server until the block ends."""
    server = SeenServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(SECONDS)


class BrowserTests(SynchronousTestCase):
    """Chromium, with the browser proxy as the proxy of its context."""

    def test_pages(self) -> None:
        """All that is for the application carries the context, and nothing else does.

        The third party's preflight reaches it, and what may be kept is asked for once.
        """
        with serving() as app, serving() as third:
            resolve = f"--resolve=third.test:{third.port}:127.0.0.1"
            with running_proxy(resolve, *PATIENT) as proxy:
                worker = RawClient.connect(proxy.url)
                worker.hello("playwright", workerId="0", features=["context"])
                test = {"testId": "t", "title": "T", "file": "t", "workerId": "0"}
                worker.send(type="test:register", context=CONTEXT, door={}, **test)
                browser_proxy = worker.receive()["doorPort"]
                urls = f"http://localhost:{app.port}", f"http://third.test:{third.port}"
                found = self.browse(browser_proxy, *urls)
                worker.close()
        own = {"fetched": MEMBER, "posted": MEMBER, "request": MEMBER, "own": f"{MEMBER},a=b"}
        self.assertEqual(found, {**own, "beacon": True, "third": "None"})
        carried = {headers.get("baggage", "").partition(",")[0] for _, headers in app.seen}
        self.assertEqual(carried, {MEMBER})
        self.assertNotIn(CONTEXT, str(third.seen))
        self.assertEqual(third.asked(), ["OPTIONS /third", "GET /third"])
        self.assertEqual(app.asked().count("GET /kept.js"), 1)
        self.assertIn("GET /page?again", app.asked())

    def browse(self, *words: object) -> dict[str, Any]:
        """Let the browser load its pages; give what they found."""
        command = [sys.executable, "-m", "tests.proxy.browser_proxy.browse", *map(str, words)]
        done = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, check=False, timeout=SECONDS
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        found: dict[str, Any] = json.loads(done.stdout)
        return found
