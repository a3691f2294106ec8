"""The duration of a mocked request of an application, by the library that runs the handler.

    python -m benchmarks.handlers

The handler fulfils; it runs in the npm fixture and in our adapters for Python, in turns, with the
same proxy and application. The application sends one request at a time.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import NODE_DIRECTORY, node_binary
from tests.support.processes.tested_proxy import start_proxy
from trafficmock.testing import aio, sync

ROUNDS = 6
REQUESTS = 300
URL = "http://127.0.0.1:9/mock"
"""No server listens there: only a handler can answer."""


@contextmanager
def npm(proxy_url: str) -> Iterator[None]:
    """Run the handler with the npm fixture."""
    script = str(NODE_DIRECTORY / "speed-worker.mjs")
    child = Child.start(
        "the npm worker", [str(node_binary()), script], env={"APP_PROXY_URL": proxy_url}
    )
    child.announced()
    try:
        yield
    finally:
        child.stop()


@contextmanager
def blocking(proxy_url: str) -> Iterator[None]:
    """Run the handler with the blocking adapter."""
    with sync.mocks(proxy_url) as mocks:
        mocks.route("**/mock", lambda route, _: route.fulfill(json={"mocked": True}))
        yield


@contextmanager
def with_asyncio(proxy_url: str) -> Iterator[None]:
    """Run the handler with the asyncio adapter, on an event loop in a thread of its own."""
    ready, finished = threading.Event(), threading.Event()

    async def handle() -> None:
        async with aio.mocks(proxy_url) as mocks:
            await mocks.route("**/mock", lambda route, _: route.fulfill(json={"mocked": True}))
            ready.set()
            await asyncio.to_thread(finished.wait)

    thread = threading.Thread(target=asyncio.run, args=(handle(),))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def measure(app_url: str, count: int) -> list[float]:
    """Have the application send ``count`` requests; return the milliseconds of each."""
    data = json.dumps({"url": URL, "count": count}).encode()
    with urllib.request.urlopen(app_url, data, timeout=60) as answer:  # noqa: S310 - loopback
        took: list[float] = json.load(answer)
        return took


def main() -> None:
    """Measure in turns, and print the medians and their ratios."""
    workers = {"npm fixture": npm, "blocking": blocking, "asyncio": with_asyncio}
    took: dict[str, list[float]] = {name: [] for name in workers}
    with ExitStack() as ending:
        proxy = start_proxy(["--log-level", "error"])
        ending.callback(proxy.stop)
        env = {"APP_PROXY_URL": proxy.url, "APP_CLIENT_ID": "app"}
        app = Child.start(
            "app", [str(node_binary()), str(NODE_DIRECTORY / "speed-app.mjs")], env=env
        )
        ending.callback(app.stop)
        app_url = app.announced()["url"]
        for _ in range(ROUNDS):
            for name, worker in workers.items():
                with worker(proxy.url):
                    measure(app_url, 30)
                    took[name] += measure(app_url, REQUESTS)
    base = statistics.median(took["npm fixture"])
    for name, each in took.items():
        median, p99 = statistics.median(each), statistics.quantiles(each, n=100)[98]
        line = f"{name:12} p50 {median:.2f} ms  p99 {p99:.2f} ms  ratio {median / base:.2f}"
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
