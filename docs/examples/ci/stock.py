"""A Python application: it asks a warehouse how many teapots there are."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen


class Stock(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answer = b"stock"
        if self.path == "/teapots":
            with urlopen("http://warehouse.example/teapots") as found:
                answer = found.read()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["STOCK_PORT"])), Stock).serve_forever()
