"""A strict test whose browser calls an application that is not attached, or is."""

import http.client
import sys
from pathlib import Path
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import node_binary
from tests.support.processes.proxy_process import running_proxy
from tests.testing.runs import attached
from trafficmock.testing import sync
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.objects.blocking.traffic_mock import finish
from trafficmock.testing.session.session import TestInfo

STRICT = TestInfo(title="buys", file="t.py", strict=True, browser_proxy=True)

PYTHON = """
import json
from wsgiref.simple_server import make_server

def answer(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]

server = make_server("127.0.0.1", 0, answer)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
"""
DEAF = """
import json, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

server = HTTPServer(("127.0.0.1", 0), Handler)
try:
    urllib.request.urlopen("http://127.0.0.1:9/").close()
except OSError:
    pass
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
"""
NODE = """
const server = require("node:http").createServer((request, response) => response.end("ok"));
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
"""
PROGRAMS = {
    "python": [sys.executable, "-c", PYTHON],
    "node": [str(node_binary()), "-e", NODE],
}


class UnseenContextTests(SynchronousTestCase):
    """The applications answer without a request of their own."""

    def ends(self, connection: ThreadedConnection, port: int) -> list[str]:
        """Give the errors of a test whose browser asks an application."""
        mocks, _ = sync.begin(connection, STRICT)
        browser_proxy = urlsplit(str((mocks.proxy or {})["server"]))
        browser = http.client.HTTPConnection(
            str(browser_proxy.hostname), browser_proxy.port, timeout=30
        )
        browser.request("GET", f"http://127.0.0.1:{port}/")
        self.assertEqual(browser.getresponse().read(), b"ok")
        browser.close()
        return [str(error) for error in finish(mocks)]

    def test_ends(self) -> None:
        """The attached ones report the context of the test, the other one does not."""
        data = str(Path(self.mktemp()).absolute())
        with running_proxy("--ca-dir", f"{data}/ca") as running:
            connection = ThreadedConnection(running.url)
            self.addCleanup(connection.close)
            for name, command in PROGRAMS.items():
                shop = attached(running.url, command, data=data)
                self.addCleanup(shop.stop)
                port = shop.announced()["port"]
                for _ in range(3):
                    self.assertEqual(self.ends(connection, port), [], name)
            stranger = Child.start("stranger", PROGRAMS["python"], env={})
            self.addCleanup(stranger.stop)
            port = stranger.announced()["port"]
            (text,) = self.ends(connection, port)
            self.assertIn(f"sent requests to http://127.0.0.1:{port}, but no attached", text)

    def test_deaf(self) -> None:
        """An attached application whose server's requests are not read does not fail its tests."""
        data = str(Path(self.mktemp()).absolute())
        with running_proxy("--ca-dir", f"{data}/ca") as running:
            connection = ThreadedConnection(running.url)
            self.addCleanup(connection.close)
            shop = attached(running.url, [sys.executable, "-c", DEAF], data=data)
            self.addCleanup(shop.stop)
            self.assertEqual(self.ends(connection, shop.announced()["port"]), [])
