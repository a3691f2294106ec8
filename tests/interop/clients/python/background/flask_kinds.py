"""A Flask application: ``/way/KIND?who=…`` begins work in the background, ``/ways`` lists kinds.

What is "of the first request" begins with it, what is "of the application" with the list.
"""

from __future__ import annotations

import _thread
import asyncio
import logging
import logging.handlers
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import active_children, get_context
from multiprocessing.dummy import Pool
from typing import Any
from urllib.parse import quote

from celery import Celery
from flask import Flask, Response, jsonify, request
from werkzeug.serving import run_simple

from tests.interop.clients.python.ways.blocking_ways import SECONDS, address, ask

Begin = Callable[[str], Any]

FLUSH = 0.1
POLLER = "a poller by threading.Timer, of the first request"
EVERYONE = "everyone"
TICKS = 4

application = Flask(__name__)
celery = Celery("kinds", broker="memory://")
celery.conf.task_always_eager = True
processes = ProcessPoolExecutor(2, mp_context=get_context("fork"))


@celery.task
def task(url: str) -> str:
    return ask(url)


async def ask_in_thread(url: str) -> str:
    return await asyncio.to_thread(ask, url)


def by_thread(url: str) -> None:
    def later() -> None:
        threading.Event().wait(2)
        ask(url)

    threading.Thread(target=later).start()


def by_fork(url: str) -> None:
    child = os.fork()
    if not child:
        try:
            ask(url)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def by_program(url: str) -> None:
    program = f"import urllib.request as r; r.urlopen({url!r})"
    # Where nobody is asked for the request, the program fails.
    subprocess.run([sys.executable, "-c", program], check=False, stderr=subprocess.DEVNULL)


def by_low_thread(url: str) -> None:
    done = threading.Event()

    def begun() -> None:
        try:
            ask(url)
        except OSError:
            # It was nobody's.
            pass
        finally:
            done.set()

    _thread.start_new_thread(begun, ())
    done.wait(SECONDS)


class Lazy:
    """Something that begins with the first request, or with the application."""

    def __init__(self, begin: Callable[[], Begin]) -> None:
        self.begin = begin
        self.lock = threading.Lock()
        self.begun: Begin | None = None

    def start(self) -> Begin:
        with self.lock:
            self.begun = self.begun or self.begin()
            return self.begun

    def __call__(self, url: str) -> Any:
        return self.start()(url)


def loop() -> Begin:
    """Run a loop of asyncio in a thread."""
    running = asyncio.new_event_loop()
    threading.Thread(target=running.run_forever, daemon=True).start()
    return lambda url: asyncio.run_coroutine_threadsafe(ask_in_thread(url), running).result(SECONDS)


def pool(make: Callable[[int], Any]) -> Callable[[], Begin]:
    """Make a pool."""

    def begin() -> Begin:
        made = make(2)
        return lambda url: made.apply(ask, (url,))

    return begin


def done() -> Begin:
    """Make a pool of one thread, and ask when a job is done."""
    made = ThreadPoolExecutor(1)

    def begin(url: str) -> None:
        asked = threading.Event()

        def ask_now(_: object) -> None:
            try:
                ask(url)
            finally:
                asked.set()

        job = made.submit(threading.Event().wait, FLUSH)
        job.add_done_callback(ask_now)
        asked.wait(SECONDS)

    return begin


def jobs_of(make: Callable[[], Any]) -> Callable[[], Begin]:
    """Make a queue, and a thread that takes jobs from it."""

    def begin() -> Begin:
        jobs = make()

        def work() -> None:
            while True:
                future, url = jobs.get()
                try:
                    future.set_result(ask(url))
                except Exception as error:  # noqa: BLE001 - for whoever waits
                    future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()

        def put(url: str) -> str:
            future: Future[str] = Future()
            jobs.put((future, url))
            return future.result(SECONDS)

        return put

    return begin


class OwnQueue:
    """A list with a condition, as applications make it."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.condition = threading.Condition()

    def put(self, item: Any) -> None:
        with self.condition:
            self.items.append(item)
            self.condition.notify()

    def get(self) -> Any:
        with self.condition:
            self.condition.wait_for(lambda: self.items)
            return self.items.pop(0)


def poller() -> Begin:
    """Ask again and again, by timers: first for the request that begins it, then for everyone."""
    ticks = iter([address(quote(POLLER), EVERYONE)] * TICKS)

    def tick(url: str) -> None:
        # It may be nobody's.
        with suppress(OSError):
            ask(url)
        with suppress(StopIteration):
            threading.Timer(FLUSH, tick, (next(ticks),)).start()

    lock = threading.Lock()

    def begin(url: str) -> None:
        if lock.acquire(blocking=False):
            threading.Timer(FLUSH, tick, (url,)).start()

    return begin


class Batch:
    """What a timer of the first of several requests sends."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.urls: list[str] = []

    def __call__(self, url: str) -> None:
        with self.lock:
            self.urls.append(url)
            if len(self.urls) == 1:
                threading.Timer(FLUSH, self.flush).start()

    def flush(self) -> None:
        with self.lock:
            urls, self.urls = self.urls, []
        for url in urls:
            try:
                ask(url)
            except OSError:
                # It was nobody's.
                continue


class Sending(logging.Handler):
    """Sends a request for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        # It may be nobody's.
        with suppress(OSError):
            ask(record.getMessage())


def record(url: str) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": url, "levelno": logging.INFO})


def memory() -> Begin:
    """Keep records, and send those of all requests when one flushes."""
    handler = logging.handlers.MemoryHandler(1000, target=Sending())

    def begin(url: str) -> None:
        handler.handle(record(url))
        threading.Event().wait(FLUSH)
        handler.flush()

    return begin


def listener(make: Callable[[], Any]) -> Callable[[], Begin]:
    """Put records into a queue, from which a listener takes them."""

    def begin() -> Begin:
        records = make()
        logging.handlers.QueueListener(records, Sending()).start()
        return lambda url: logging.handlers.QueueHandler(records).handle(record(url))

    return begin


EARLY = {
    "run_coroutine_threadsafe, to a loop of the application": Lazy(loop),
    "queue.Queue, a thread of the application": Lazy(jobs_of(queue.Queue)),
    "queue.SimpleQueue, a thread of the application": Lazy(jobs_of(queue.SimpleQueue)),
    "multiprocessing.dummy.Pool of the application": Lazy(pool(Pool)),
    "a queue made by hand, a thread of the application": Lazy(jobs_of(OwnQueue)),
}
KINDS: dict[str, Begin] = {
    "threading.Thread, 2 s after the response": by_thread,
    "threading.Timer, 6 s after the response": lambda url: threading.Timer(6, ask, (url,)).start(),
    "ProcessPoolExecutor": lambda url: processes.submit(ask, url).result(SECONDS),
    "os.fork": by_fork,
    "asyncio.run": lambda url: asyncio.run(ask_in_thread(url)),
    "run_coroutine_threadsafe, to a loop of the first request": Lazy(loop),
    "Celery, eager": lambda url: task.delay(url).get(),
    "queue.Queue, a thread of the first request": Lazy(jobs_of(queue.Queue)),
    "queue.SimpleQueue, a thread of the first request": Lazy(jobs_of(queue.SimpleQueue)),
    "multiprocessing.dummy.Pool of the first request": Lazy(pool(Pool)),
    "multiprocessing.Pool of the first request": Lazy(pool(get_context("fork").Pool)),
    "a done callback of a ThreadPoolExecutor of the first request": Lazy(done),
    POLLER: Lazy(poller),
    "_thread.start_new_thread": by_low_thread,
    "a new Python process": by_program,
    "a batch that a threading.Timer of the first request sends": Batch(),
    "a queue made by hand, a thread of the first request": Lazy(jobs_of(OwnQueue)),
    "logging's MemoryHandler": Lazy(memory),
    "logging's QueueListener, of the first request": Lazy(listener(queue.Queue)),
    "logging's QueueListener, with a queue of processes": Lazy(listener(get_context("fork").Queue)),
    **EARLY,
}


@application.get("/ways")
def ways() -> Response:
    for each in EARLY.values():
        each.start()
    return jsonify(list(KINDS))


@application.get("/way/<kind>")
def way(kind: str) -> str:
    return str(KINDS[kind](address(quote(kind), request.args["who"])))


def end(*_: object) -> None:
    """End with the workers of pools, which would outlive this process."""
    for each in active_children():
        each.kill()
    os._exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    run_simple("127.0.0.1", int(sys.argv[1]), application, threaded=True)
