"""An application whose requests are sent by a thread that was started with it, from a queue."""

import json
import queue
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JOBS: "queue.Queue[tuple[str, Future[str]]]" = queue.Queue()


def work() -> None:
    while True:
        url, future = JOBS.get()
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                future.set_result(f"{answer.status} {answer.read().decode()}".strip())
        except OSError as error:
            future.set_result(f"failed: {error}")


class Pages(BaseHTTPRequestHandler):
    """``/HOST`` has the thread ask ``http://HOST.test/``, and shows what it got."""

    def do_GET(self) -> None:
        future: Future[str] = Future()
        JOBS.put((f"http://{self.path.strip('/')}.test/", future))
        body = future.result(30).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as there
        """Log nothing."""


threading.Thread(target=work, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
sys.stdout.flush()
server.serve_forever()
