"""An application that writes as many bytes as the path of a request says: ``/1000000``."""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Writes, then answers."""

    def do_GET(self) -> None:
        size = self.path.removeprefix("/")
        if not size.isdecimal():
            self.send_error(404)
            return
        sys.stdout.write(("x" * 99 + "\n") * (int(size) // 100))
        sys.stdout.flush()
        answer = os.environ.get("NAME", "").encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
sys.stdout.write(f"serves at http://127.0.0.1:{server.server_port}\n")
sys.stdout.flush()
server.serve_forever()
