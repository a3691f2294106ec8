"""How rows run on each adapter."""

import asyncio
import atexit
import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from twisted.internet import reactor, threads  # noqa: TID251 - trial's own
from twisted.internet.defer import Deferred

from tests.support.processes.node_app import NodeApp
from tests.testing.javascript import RowServer
from tests.testing.row_context import Adapter, Gate, Row, RowContext, drive, plain
from trafficmock.testing import aio, sync, tx


class ThreadGate(Gate):
    """A gate for handlers on threads."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def open(self) -> None:
        self._event.set()

    def wait(self) -> None:
        self._event.wait(20)


class AsyncioGate(Gate):
    """A gate for handlers on the row's event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def open(self) -> None:
        self._event.set()

    def wait(self) -> Any:
        return self._event.wait()


class TwistedGate(Gate):
    """A gate for handlers on the reactor."""

    def __init__(self) -> None:
        self._waiting: list[Deferred[None]] = []
        self._open = False

    def open(self) -> None:
        self._open = True
        for each in self._waiting:
            each.callback(None)

    def wait(self) -> Any:
        deferred: Deferred[None] = Deferred()
        if self._open:
            deferred.callback(None)
        else:
            self._waiting.append(deferred)
        return deferred


def same(handler: Any) -> Any:
    return handler


def blocking_mocks(node_app: NodeApp, title: str) -> Any:
    return sync.mocks(node_app.proxy.url, title=title, file="rows")


def asyncio_mocks(node_app: NodeApp, title: str) -> Any:
    return aio.mocks(node_app.proxy.url, title=title, file="rows")


def twisted_mocks(node_app: NodeApp, title: str) -> Any:
    return tx.mocks(reactor, node_app.proxy.url, title=title, file="rows")


@functools.cache
def row_server() -> RowServer:
    """Start the process of the JavaScript rows, or give the one that runs."""
    started = RowServer()
    atexit.register(started.stop)
    return started


@contextmanager
def javascript_mocks(node_app: NodeApp, title: str) -> Iterator[Any]:
    mocks = row_server().connect(proxyUrl=node_app.proxy.url, title=title, file="rows")
    try:
        yield mocks
    finally:
        mocks.end()


BLOCKING = Adapter(
    "blocking", blocking_mocks, lambda function, *args: function(*args), plain, ThreadGate
)
ASYNCIO = Adapter("asyncio", asyncio_mocks, asyncio.to_thread, same, AsyncioGate)
TWISTED = Adapter("twisted", twisted_mocks, threads.deferToThread, same, TwistedGate)
JAVASCRIPT = Adapter("javascript", javascript_mocks, BLOCKING.in_background, plain, ThreadGate)


def run_plainly(node_app: NodeApp, title: str, row: Row, adapter: Adapter = BLOCKING) -> None:
    """Run a row on an adapter whose calls block."""
    with adapter.mocks(node_app, title) as mocks:
        drive(row(RowContext(mocks, node_app, adapter)))


def run_asyncio(node_app: NodeApp, title: str, row: Row) -> None:
    """Run a row on an event loop of its own."""

    async def main() -> None:
        async with asyncio_mocks(node_app, title) as mocks:
            await row(RowContext(mocks, node_app, ASYNCIO))

    asyncio.run(main())


def run_twisted(node_app: NodeApp, title: str, row: Row) -> Deferred[None]:
    """Run a row on the reactor."""

    async def main() -> None:
        async with twisted_mocks(node_app, title) as mocks:
            await row(RowContext(mocks, node_app, TWISTED))

    return Deferred.fromCoroutine(main())
