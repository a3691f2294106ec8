"""Run as a child: an application that sends a message for each request ``/?way=…&who=…``.

``LIBRARY`` names the module with the ways to send one. With ``WORKS`` the process handles them too.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from socketserver import ThreadingMixIn
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

library = import_module(f"{__package__}.{os.environ['LIBRARY']}_messages")


class Server(ThreadingMixIn, WSGIServer):
    """A server of threads."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Logs nothing."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def application(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    query = parse_qs(environ["QUERY_STRING"])
    (way,), (who,) = query["way"], query["who"]
    library.WAYS[way](way, who)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"sent"]


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, application, Server, Quiet)
    if os.environ.get("WORKS"):
        library.work()
    announced = {"port": server.server_port, "ways": list(library.WAYS)}
    sys.stdout.write(f"{json.dumps(announced)}\n")
    sys.stdout.flush()
    server.serve_forever()
