"""How rows run on each adapter."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from twisted.internet import threads
from twisted.internet.defer import Deferred

from tests.support.processes.node_app import NodeApp
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


BLOCKING = Adapter("blocking", lambda function, *args: function(*args), plain, ThreadGate)
ASYNCIO = Adapter("asyncio", asyncio.to_thread, same, AsyncioGate)
TWISTED = Adapter("twisted", threads.deferToThread, same, TwistedGate)


def run_blocking(node_app: NodeApp, title: str, row: Row) -> None:
    with sync.mocks(node_app.proxy.url, title=title, file="rows") as mocks:
        drive(row(RowContext(mocks, node_app, BLOCKING)))


def run_asyncio(node_app: NodeApp, title: str, row: Row) -> None:
    async def main() -> None:
        async with aio.mocks(node_app.proxy.url, title=title, file="rows") as mocks:
            await row(RowContext(mocks, node_app, ASYNCIO))

    asyncio.run(main())


def run_twisted(reactor: Any, node_app: NodeApp, title: str, row: Row) -> Deferred[None]:
    async def main() -> None:
        async with tx.mocks(reactor, node_app.proxy.url, title=title, file="rows") as mocks:
            await row(RowContext(mocks, node_app, TWISTED))

    return Deferred.fromCoroutine(main())


Runner = Callable[[NodeApp, str, Row], Any]
