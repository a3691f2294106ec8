"""What the applications share: the two URLs of a page, and a port that is announced.

Each is run as ``python -m … URL URL``, and answers ``GET /page`` with what the two URLs said.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

import requests
from werkzeug.serving import make_server

FIRST, SECOND = os.environ.get("PAGE_URLS", "").split() or sys.argv[1:3]


def listening() -> socket.socket:
    """Listen on a free port of loopback, and say which."""
    made = socket.create_server(("127.0.0.1", 0), backlog=100)
    sys.stdout.write(json.dumps({"port": made.getsockname()[1]}) + "\n")
    sys.stdout.flush()
    return made


def serve_wsgi(application: Any) -> None:
    """Serve each request in a thread of its own."""
    with listening() as port:
        server = make_server("127.0.0.1", 0, application, threaded=True, fd=port.fileno())
        server.serve_forever()


def both() -> str:
    """Ask the two URLs, one after the other."""
    return "\n".join(requests.get(url, timeout=60).text for url in (FIRST, SECOND))
