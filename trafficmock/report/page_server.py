"""Serves one page to the browser of this machine, until it is ended by Ctrl-C."""

from __future__ import annotations

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from trafficmock.errors import LocalError
from trafficmock.report.foreign_files import Room, read_file

_HAR = re.compile(r"/(har/[A-Za-z0-9._-]+\.har)")
_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::([0-9]{1,5}))?")
_HIGHEST_PORT = 65535
_POLICY = re.compile(r'<meta http-equiv="content-security-policy" content="([^"]*)">')
_NOTHING = "default-src 'none'; frame-ancestors 'none'; sandbox"


class SavedPageServer(ThreadingHTTPServer):
    """Answers at a free port of the loopback interface.

    :param page: what ``/`` is.
    :param directory: the report, whose HARs the page links; ``None`` for a page without them.
    """

    daemon_threads = True

    def __init__(self, page: str, directory: Path | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = page.encode("utf-8", "backslashreplace")
        self.directory = directory
        policy = _POLICY.search(page)
        self.policy = f"{policy[1]}; frame-ancestors 'none'" if policy else _NOTHING

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: SavedPageServer
    server_version = "trafficmock"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with the page, or a HAR of the report."""
        path = self.path.partition("?")[0]
        har = _HAR.fullmatch(path)
        if not _is_this_machine(self.headers.get_all("host") or []):
            # A page of another site has had the browser look up its own name as this machine.
            self.send_error(421)
        elif path == "/":
            self._send("text/html; charset=utf-8", self.server.page, self.server.policy)
        elif har and self.server.directory is not None:
            self._send_file(self.server.directory / har[1])
        else:
            self.send_error(404)

    def _send_file(self, path: Path) -> None:
        try:
            content = read_file(path, Room(path.name))
        except (OSError, LocalError):
            self.send_error(404)
        else:
            self._send("application/json", content, _NOTHING)

    def _send(self, content_type: str, content: bytes, policy: str) -> None:
        self.send_response(200)
        for name, value in (
            ("content-type", content_type),
            ("content-length", str(len(content))),
            ("cache-control", "no-store"),
            ("content-security-policy", policy),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "no-referrer"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Log nothing: the terminal has the address."""


def _is_this_machine(hosts: list[str]) -> bool:
    """Return whether a request has one ``Host``, which a page of this machine sends."""
    found = _LOOPBACK.fullmatch(hosts[0]) if len(hosts) == 1 else None
    return found is not None and int(found[1] or 0) <= _HIGHEST_PORT
