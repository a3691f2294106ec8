"""A FastAPI application: ``/way/NAME?who=…`` asks in that way, ``/ways`` lists them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

import aiohttp
import httpx
from fastapi import BackgroundTasks, Depends, FastAPI
from fastapi.responses import StreamingResponse

from tests.interop.clients.python.ways.blocking_ways import LATER, SECONDS, address, ask

application = FastAPI()
client = httpx.AsyncClient(timeout=SECONDS)
started: set[asyncio.Task[Any]] = set()
QUEUE = "queue-of-a-task"


async def ask_async(url: str) -> str:
    return (await client.get(url)).text


async def by_aiohttp(url: str) -> str:
    async with aiohttp.ClientSession(trust_env=True) as session, session.get(url) as answer:
        return await answer.text()


async def gathered(url: str) -> str:
    (text,) = await asyncio.gather(ask_async(url))
    return text


async def in_an_executor(url: str) -> str:
    return await asyncio.get_running_loop().run_in_executor(None, ask, url)


async def after_the_response(url: str) -> str:
    async def later() -> None:
        await asyncio.sleep(LATER)
        await ask_async(url)

    task = asyncio.create_task(later())
    started.add(task)
    task.add_done_callback(started.discard)
    return "to be asked"


async def call_later(url: str) -> str:
    def begin() -> None:
        task = asyncio.create_task(ask_async(url))
        started.add(task)
        task.add_done_callback(started.discard)

    asyncio.get_running_loop().call_later(LATER, begin)
    return "to be asked"


class Queue:
    """Jobs for one task, which the first job starts, or the application."""

    def __init__(self) -> None:
        self.jobs: asyncio.Queue[tuple[asyncio.Future[str], str]] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    async def put(self, url: str) -> str:
        """Let the task ask, and wait for it."""
        self.start()
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.jobs.put_nowait((future, url))
        return await future

    def start(self) -> None:
        if self.task is None:
            self.task = asyncio.create_task(self.work())

    async def work(self) -> None:
        """Ask for one URL after the other."""
        while True:
            future, url = await self.jobs.get()
            try:
                future.set_result(await ask_async(url))
            except Exception as error:  # noqa: BLE001 - for whoever waits
                future.set_exception(error)


EARLY = Queue()
"""Begins with a request that is no test's: that for the list of the ways."""

WAYS: dict[str, Callable[[str], Awaitable[str]]] = {
    "httpx": ask_async,
    "aiohttp": by_aiohttp,
    "gather": gathered,
    "to-thread": lambda url: asyncio.to_thread(ask, url),
    "executor": in_an_executor,
    "task-after-the-response": after_the_response,
    "call-later": call_later,
    "queue-of-an-early-task": EARLY.put,
    QUEUE: Queue().put,
}
OTHERS = ("sync-endpoint", "sync-dependency", "background-task", "streamed-body")


@application.get("/ways")
async def ways() -> list[str]:
    EARLY.start()
    return [*WAYS, *OTHERS]


@application.get("/way/sync-endpoint")
def sync_endpoint(who: str) -> str:
    return ask(address("sync-endpoint", who))


def dependency(who: str) -> str:
    return ask(address("sync-dependency", who))


@application.get("/way/sync-dependency")
async def sync_dependency(text: Annotated[str, Depends(dependency)]) -> str:
    return text


@application.get("/way/background-task")
async def background_task(who: str, tasks: BackgroundTasks) -> str:
    tasks.add_task(ask, address("background-task", who))
    return "to be asked"


@application.get("/way/streamed-body")
async def streamed_body(who: str) -> StreamingResponse:
    async def body() -> AsyncIterator[str]:
        yield "it said "
        yield await ask_async(address("streamed-body", who))

    return StreamingResponse(body())


@application.get("/way/{name}")
async def way(name: str, who: str) -> str:
    return await WAYS[name](address(name, who))
