"""An application whose first request starts the thread that runs the jobs of all requests.

The path says which: ``thread`` reads a queue, ``pool`` is one of ``multiprocessing``.
"""

import json
import queue
import sys
import threading
from concurrent.futures import Future
from multiprocessing.pool import ThreadPool

import requests
from flask import Flask
from werkzeug.serving import make_server

JOBS: "queue.Queue[Future[str]]" = queue.Queue()
app = Flask(__name__)


def send() -> str:
    try:
        return requests.get("http://mail.test/send", timeout=20).text
    except requests.RequestException as error:
        return str(error)


def work() -> None:
    while True:
        JOBS.get().set_result(send())


class Started:
    """What the first request has started."""

    thread: threading.Thread | None = None
    pool: ThreadPool | None = None


@app.get("/thread")
def by_thread() -> str:
    if Started.thread is None:
        Started.thread = threading.Thread(target=work, daemon=True)
        Started.thread.start()
    job: Future[str] = Future()
    JOBS.put(job)
    return job.result(30)


@app.get("/pool")
def by_pool() -> str:
    if Started.pool is None:
        Started.pool = ThreadPool(1)
    return Started.pool.apply(send)


server = make_server("127.0.0.1", 0, app, threaded=True)
sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
sys.stdout.flush()
server.serve_forever()
