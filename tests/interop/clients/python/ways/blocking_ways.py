"""The ways of a server whose views block; each asks for a URL."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPConnection
from multiprocessing import get_context
from urllib.parse import urlsplit

import httpx
import requests
import urllib3

SECONDS = 60
LATER = 0.2

session = requests.Session()
pool_of_connections = urllib3.PoolManager(maxsize=1, block=True)
pool_of_threads = ThreadPoolExecutor(1)


def address(way: str, who: str) -> str:
    """Name what is asked for: the same for all tests, but for the query."""
    return f"http://api.shop.test/price?way={way}&who={who}"


def ask(url: str) -> str:
    return requests.get(url, timeout=SECONDS).text


def by_http_client(url: str) -> str:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=SECONDS)
    connection.request("GET", f"{parts.path}?{parts.query}")
    return connection.getresponse().read().decode()


def by_urllib(url: str) -> str:
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 - http
        text: str = answer.read().decode()
        return text


def in_a_thread(url: str) -> str:
    thread = threading.Thread(target=ask, args=(url,))
    thread.start()
    thread.join()
    return "asked"


def after_the_response(url: str) -> str:
    threading.Timer(LATER, ask, (url,)).start()
    return "to be asked"


def in_a_fork(url: str) -> str:
    child = get_context("fork").Process(target=ask, args=(url,))
    child.start()
    child.join()
    return "asked"


def in_a_program(url: str) -> str:
    program = f"import urllib.request as r; r.urlopen({url!r})"
    # Where nobody is asked for the request, the program fails.
    subprocess.run([sys.executable, "-c", program], check=False, stderr=subprocess.DEVNULL)
    return "asked"


class Queue:
    """Jobs for one thread, which the first job starts, or the application."""

    def __init__(self) -> None:
        self.jobs: queue.Queue[tuple[Future[str], str]] = queue.Queue()
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None

    def put(self, url: str) -> str:
        """Let the thread ask, and wait for it."""
        self.start()
        future: Future[str] = Future()
        self.jobs.put((future, url))
        return future.result(SECONDS)

    def start(self) -> None:
        with self.lock:
            if self.thread is None:
                self.thread = threading.Thread(target=self.work, daemon=True)
                self.thread.start()

    def work(self) -> None:
        """Ask for one URL after the other."""
        while True:
            future, url = self.jobs.get()
            try:
                future.set_result(ask(url))
            except Exception as error:  # noqa: BLE001 - for whoever waits
                future.set_exception(error)


QUEUE = "queue-of-a-thread"
EARLY = Queue()
"""Begins with a request that is no test's: that for the list of the ways."""

WAYS: dict[str, Callable[[str], str]] = {
    "requests": ask,
    "session": lambda url: session.get(url, timeout=SECONDS).text,
    "httpx": lambda url: httpx.get(url, timeout=SECONDS).text,
    "urllib3": lambda url: pool_of_connections.request("GET", url, retries=False).data.decode(),
    "urllib": by_urllib,
    "http.client": by_http_client,
    "thread": in_a_thread,
    "pool-of-one-thread": lambda url: pool_of_threads.submit(ask, url).result(SECONDS),
    "timer-after-the-response": after_the_response,
    "fork": in_a_fork,
    "program": in_a_program,
    "queue-of-an-early-thread": EARLY.put,
    QUEUE: Queue().put,
}
