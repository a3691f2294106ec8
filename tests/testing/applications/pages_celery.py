"""A server whose pages say what three third parties said, which tasks of a Celery worker ask.

Redis is that of the variable ``BROKER``; results are in the directory ``RESULTS``, because threads
cannot wait at the same time for those that Redis has.
"""

import json
import os
import sys

import requests
from celery import Celery, chain, group
from flask import Flask
from werkzeug.serving import make_server

HOST = "http://third.test"
SECONDS = 60

app = Celery("pages", broker=os.environ["BROKER"], backend=f"file://{os.environ['RESULTS']}")
# A chain in a group takes a second connection: without a limit, pages do not wait for each other's.
app.conf.broker_pool_limit = None
pages = Flask(__name__)


@app.task(bind=True, name="ask", max_retries=1)
def ask(self, name: str) -> str:  # type: ignore[no-untyped-def] # noqa: ANN001 - Celery's
    if name == "stock" and not self.request.retries:
        raise self.retry(countdown=0.05)
    return requests.get(f"{HOST}/{name}", timeout=SECONDS).text


@app.task(name="begin")
def begin() -> None:
    """Begin a chain."""


@pages.get("/page")
def page() -> str:
    tasks = [ask.si("price"), ask.si("stock"), chain(begin.si(), ask.si("reviews"))]
    return " ".join(group(tasks).delay().get(timeout=SECONDS, interval=0.1))


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, pages, threaded=True)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
    sys.stdout.flush()
    server.serve_forever()
