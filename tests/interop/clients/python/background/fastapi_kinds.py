"""FastAPI: ``/way/KIND?who=…`` begins work in the background, ``/ways`` lists kinds.

What is "of the first request" begins with it, what is "of the application" with the list.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import anyio
from fastapi import FastAPI

from tests.interop.clients.python.ways.blocking_ways import address
from tests.interop.clients.python.ways.fastapi_ways import ask_async

Job = tuple[asyncio.Future[str], str]

FLUSH = 0.1
IDLE = 0.5

application = FastAPI()
started: set[asyncio.Task[Any]] = set()


def start(work: Any) -> None:
    task = asyncio.create_task(work)
    started.add(task)
    task.add_done_callback(started.discard)


async def perform(job: Job) -> None:
    future, url = job
    try:
        future.set_result(await ask_async(url))
    except Exception as error:  # noqa: BLE001 - for whoever waits
        future.set_exception(error)


class Lazy:
    """A consumer of jobs that begins with the first request, or with the application."""

    def __init__(self, begin: Callable[[], Callable[[Job], Awaitable[Any]]]) -> None:
        self.begin = begin
        self.put: Callable[[Job], Awaitable[Any]] | None = None

    def start(self) -> None:
        self.put = self.put or self.begin()

    async def __call__(self, url: str) -> str:
        self.start()
        assert self.put is not None
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        await self.put((future, url))
        return await future


def queued() -> Callable[[Job], Awaitable[Any]]:
    jobs: asyncio.Queue[Job] = asyncio.Queue()

    async def work() -> None:
        while True:
            await perform(await jobs.get())

    start(work())
    return jobs.put


def queued_for_a_time() -> Callable[[Job], Awaitable[Any]]:
    jobs: asyncio.Queue[Job] = asyncio.Queue()

    async def work() -> None:
        while True:
            try:
                job = await asyncio.wait_for(jobs.get(), IDLE)
            except TimeoutError:
                continue
            await perform(job)

    start(work())
    return jobs.put


def streamed() -> Callable[[Job], Awaitable[Any]]:
    sending, receiving = anyio.create_memory_object_stream[Any](math.inf)

    async def work() -> None:
        async for job in receiving:
            await perform(job)

    start(work())
    return sending.send


class Batch:
    """What a timer of the first of several requests sends."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    async def __call__(self, url: str) -> str:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.jobs.append((future, url))
        if len(self.jobs) == 1:
            asyncio.get_running_loop().call_later(FLUSH, self.flush)
        return await future

    def flush(self) -> None:
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            start(perform(job))


EARLY = {
    "asyncio.Queue, a task of the application": Lazy(queued),
    "a stream of anyio, a task of the application": Lazy(streamed),
}
KINDS: dict[str, Callable[[str], Awaitable[str]]] = {
    "asyncio.Queue, a task of the first request": Lazy(queued),
    "asyncio.wait_for(queue.get(), …), a task of the first request": Lazy(queued_for_a_time),
    "a stream of anyio, a task of the first request": Lazy(streamed),
    "a batch that call_later of the first request sends": Batch(),
    **EARLY,
}


@application.get("/ways")
async def ways() -> list[str]:
    for each in EARLY.values():
        each.start()
    return list(KINDS)


@application.get("/way/{kind}")
async def way(kind: str, who: str) -> str:
    return await KINDS[kind](address(quote(kind), who))
