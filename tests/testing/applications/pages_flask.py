"""Run as a child: a Flask application whose pages say what three third parties said.

The address is printed as one JSON line.
"""

import json
import os
import sys

import requests
from flask import Flask, request
from werkzeug.serving import make_server

HOST = os.environ.get("SAMPLE_THIRD", "http://third.test")

application = Flask(__name__)


@application.get("/page")
def page() -> str:
    urls = [f"{HOST}/{name}" for name in ("price", "stock", "reviews")]
    return " ".join(requests.get(url, params=request.args, timeout=60).text for url in urls)


if __name__ == "__main__":
    # Each request has a thread of its own.
    server = make_server("127.0.0.1", 0, application, threaded=True)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
    sys.stdout.flush()
    server.serve_forever()
