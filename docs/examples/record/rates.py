"""The real service: it makes a price in a job, which takes a while, and wants a token."""

import itertools
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

numbers = itertools.count(1)
jobs: dict[str, list[dict[str, object]]] = {}


class Rates(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        job = f"/jobs/{next(numbers)}"
        done = {"state": "done", "price": asked["amount"] * 12}
        jobs[job] = [{"state": "running"}, {"state": "running"}, done]
        self.answer({"job": job, "answer_to": asked["request_id"]})

    def do_GET(self) -> None:
        states = jobs[self.path]
        self.answer(states.pop(0) if len(states) > 1 else states[0])

    def answer(self, document: dict[str, object]) -> None:
        content = json.dumps(document).encode()
        self.send_response(200 if self.headers["authorization"] else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("RATES_PORT", "5001"))), Rates).serve_forever()
