"""A WSGI application: work in greenlets of gevent, or of eventlet; see ``flask_kinds``.

As a program, ``greenlet_kinds PORT``, it is served by eventlet; Gunicorn serves it by gevent.
"""

from __future__ import annotations

import importlib
import queue
import sys
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import quote

if __name__ == "__main__":
    importlib.import_module("eventlet").monkey_patch()

from collections.abc import Callable

import requests
from flask import Flask, Response, jsonify, request

Begin = Callable[[str], Any]

SECONDS = 60
LATER = 0.05


def module(name: str) -> Any:
    return importlib.import_module(name)


def ask(url: str) -> None:
    """Ask, also where it is refused because it is nobody's."""
    with suppress(requests.RequestException):
        requests.get(url, timeout=SECONDS)


class Consumer:
    """What takes jobs from a queue, and begins with the first request."""

    def __init__(self, make: Callable[[], Any], start: Callable[[Any], Any]) -> None:
        self.make = make
        self.start = start
        self.jobs: Any = None

    def run(self) -> None:
        while True:
            ask(self.jobs.get())

    def __call__(self, url: str) -> None:
        if self.jobs is None:
            self.jobs = self.make()
            self.start(self.run)
        self.jobs.put(url)


def threaded(run: Any) -> None:
    threading.Thread(target=run, daemon=True).start()


def of_gevent() -> dict[str, Begin]:
    gevent, pools = module("gevent"), module("gevent.pool")
    pool = pools.Pool(2)
    return {
        "gevent.spawn": lambda url: gevent.spawn(ask, url),
        "gevent.spawn_later": lambda url: gevent.spawn_later(LATER, ask, url),
        "gevent, Pool.spawn": lambda url: pool.spawn(ask, url),
        "gevent, Pool.map": lambda url: pools.Pool(1).map(ask, [url]),
        "gevent, Pool.imap": lambda url: list(pools.Pool(1).imap(ask, [url])),
        "gevent, ThreadPool": lambda url: gevent.get_hub().threadpool.spawn(ask, url),
        "gevent, link": lambda url: gevent.spawn(gevent.sleep, LATER).link(lambda _: ask(url)),
        "gevent.queue, a greenlet of the first request": Consumer(
            module("gevent.queue").Queue, gevent.spawn
        ),
        "gevent, queue.Queue, a thread of the first request": Consumer(queue.Queue, threaded),
    }


def of_eventlet() -> dict[str, Begin]:
    eventlet = module("eventlet")
    pool = eventlet.GreenPool(2)

    def piled(url: str) -> None:
        pile = eventlet.GreenPile(1)
        pile.spawn(ask, url)
        list(pile)

    return {
        "eventlet.spawn": lambda url: eventlet.spawn(ask, url),
        "eventlet.spawn_n": lambda url: eventlet.spawn_n(ask, url),
        "eventlet.spawn_after": lambda url: eventlet.spawn_after(LATER, ask, url),
        "eventlet, GreenPool.spawn": lambda url: pool.spawn(ask, url),
        "eventlet, GreenPile": piled,
        "eventlet, link": lambda url: eventlet.spawn(eventlet.sleep, LATER).link(
            lambda _: ask(url)
        ),
        "eventlet.queue, a greenlet of the first request": Consumer(
            module("eventlet.queue").Queue, eventlet.spawn
        ),
        "eventlet, queue.Queue, a thread of the first request": Consumer(queue.Queue, threaded),
    }


application = Flask(__name__)
KINDS = of_eventlet() if __name__ == "__main__" else of_gevent()


@application.get("/ways")
def ways() -> Response:
    return jsonify(list(KINDS))


@application.get("/way/<path:kind>")
def way(kind: str) -> str:
    who: str = request.args["who"]
    KINDS[kind](f"http://api.shop.test/price?way={quote(kind)}&who={who}")
    return who


if __name__ == "__main__":
    listening = module("eventlet").listen(("127.0.0.1", int(sys.argv[1])))
    module("eventlet.wsgi").server(listening, application)
