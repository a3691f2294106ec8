"""FastAPI: work in the background by libraries that keep jobs; see ``fastapi_kinds``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any
from urllib.parse import quote

import httpx
from fastapi import FastAPI

SECONDS = 60
LATER = 0.3

started: set[asyncio.Task[Any]] = set()


def start(work: Any) -> None:
    task = asyncio.create_task(work)
    started.add(task)
    task.add_done_callback(started.discard)


async def ask(url: str) -> None:
    """Ask, also where it is refused because it is nobody's."""
    with suppress(httpx.HTTPError):
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            await client.get(url)


def ask_blocking(url: str) -> None:
    with suppress(httpx.HTTPError):
        httpx.get(url, timeout=SECONDS)


class Once:
    """Something that begins with the first request."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        self.begin = begin
        self.begun: Any = None

    def get(self) -> Any:
        self.begun = self.begun or self.begin()
        return self.begun


def scheduler(name: str, kind: str) -> Any:
    made = getattr(import_module(f"apscheduler.schedulers.{name}"), kind)()
    made.start()
    return made


def in_loop() -> Any:
    return scheduler("asyncio", "AsyncIOScheduler")


def in_thread() -> Any:
    return scheduler("background", "BackgroundScheduler")


early = {"loop": Once(in_loop), "thread": Once(in_thread)}
late = {"loop": Once(in_loop), "thread": Once(in_thread)}


def scheduled(at: Once, work: Any, *, is_dated: bool = False) -> Callable[[str], Awaitable[None]]:
    async def begin(url: str) -> None:
        # However late it is.
        options: dict[str, Any] = {"misfire_grace_time": None}
        if is_dated:
            at_time = datetime.now().astimezone() + timedelta(seconds=LATER)
            options |= {"trigger": "date", "run_date": at_time}
        at.get().add_job(work, args=(url,), **options)

    return begin


bulkhead = Once(lambda: import_module("aiojobs").Scheduler(limit=1))


async def by_aiojobs(url: str) -> None:
    job = await bulkhead.get().spawn(ask(url))
    await job.wait()


async def ask_all(urls: list[str]) -> list[str]:
    for url in urls:
        await ask(url)
    return urls


def strawberry() -> Any:
    return import_module("strawberry.dataloader").DataLoader(load_fn=ask_all, cache=False)


def aiodataloader() -> Any:
    return import_module("aiodataloader").DataLoader(ask_all, cache=False)


def loaded(make: Callable[[], Any]) -> Callable[[str], Awaitable[None]]:
    once = Once(make)

    async def begin(url: str) -> None:
        await once.get().load(url)

    return begin


async def by_loader(url: str) -> None:
    await strawberry().load(url)


def channels() -> Any:
    layer = import_module("channels.layers").InMemoryChannelLayer()

    async def work() -> None:
        while True:
            await ask((await layer.receive("jobs"))["url"])

    start(work())
    return layer


layers = Once(channels)


async def by_channels(url: str) -> None:
    await layers.get().send("jobs", {"url": url})


def janus() -> Any:
    jobs = import_module("janus").Queue()

    async def work() -> None:
        while True:
            await ask(await jobs.async_q.get())

    start(work())
    return jobs


queues = Once(janus)


async def by_janus(url: str) -> None:
    await asyncio.to_thread(queues.get().sync_q.put, url)


def observed() -> Any:
    subject = import_module("reactivex.subject").Subject()
    loop = import_module("reactivex.scheduler").EventLoopScheduler()
    subject.pipe(import_module("reactivex.operators").observe_on(loop)).subscribe(ask_blocking)
    return subject


subjects = Once(observed)


async def by_reactivex(url: str) -> None:
    subjects.get().on_next(url)


def emitter() -> Any:
    made = import_module("pyee.asyncio").AsyncIOEventEmitter()
    made.on("job", ask)
    return made


emitters = Once(emitter)


async def by_pyee(url: str) -> None:
    emitters.get().emit("job", url)


tasks = Once(lambda: import_module("taskiq").InMemoryBroker().register_task(ask, "ask"))


async def by_taskiq(url: str) -> None:
    await tasks.get().kiq(url)


KINDS: dict[str, Callable[[str], Awaitable[None]]] = {
    "APScheduler 3, AsyncIOScheduler of the application": scheduled(early["loop"], ask),
    "APScheduler 3, a date, AsyncIOScheduler of the application": scheduled(
        early["loop"], ask, is_dated=True
    ),
    "APScheduler 3, BackgroundScheduler of the application": scheduled(
        early["thread"], ask_blocking
    ),
    "APScheduler 3, AsyncIOScheduler of the first request": scheduled(late["loop"], ask),
    "APScheduler 3, BackgroundScheduler of the first request": scheduled(
        late["thread"], ask_blocking
    ),
    "aiojobs, Scheduler(limit=1) of the first request": by_aiojobs,
    "Strawberry, a DataLoader of a request": by_loader,
    "Strawberry, a DataLoader of the process": loaded(strawberry),
    "aiodataloader, a DataLoader of the process": loaded(aiodataloader),
    "Channels, InMemoryChannelLayer.receive, a task of the first request": by_channels,
    "janus, a task of the first request": by_janus,
    "reactivex, observe_on": by_reactivex,
    "pyee, AsyncIOEventEmitter of the first request": by_pyee,
    "taskiq, InMemoryBroker": by_taskiq,
}

application = FastAPI()


@application.get("/ways")
async def ways() -> list[str]:
    for each in early.values():
        each.get()
    return list(KINDS)


@application.get("/way/{kind}")
async def way(kind: str, who: str) -> str:
    await KINDS[kind](f"http://api.shop.test/price?way={quote(kind)}&who={who}")
    return who
