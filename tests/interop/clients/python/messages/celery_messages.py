"""Tasks of Celery; the broker is that of the variable ``BROKER``."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from celery import Celery, chain, group
from celery.contrib.testing.worker import start_worker
from celery.exceptions import Reject

from tests.interop.clients.python.messages import asking

BROKER = os.environ["BROKER"]
app = Celery("messages", broker=BROKER, backend=os.environ.get("BACKEND"))
app.conf.update(broker_connection_retry_on_startup=True, worker_hijack_root_logger=False)


@app.task
def ask(way: str, who: str) -> None:
    asking.ask(way, who)


@app.task
def nothing() -> None:
    """Stand for work that needs no third party."""


@app.task
def fail() -> None:
    raise ValueError("as it should")


@app.task(bind=True, max_retries=2)
def ask_at_the_third_try(self: Any, way: str, who: str) -> None:
    if self.request.retries < 2:
        raise self.retry(countdown=0.1)
    asking.ask(way, who)


@app.task(bind=True, acks_late=True)
def ask_when_redelivered(self: Any, way: str, who: str) -> None:
    if not self.request.delivery_info.get("redelivered"):
        raise Reject("again", requeue=True)
    asking.ask(way, who)


@app.task
def ask_late(way: str, who: str) -> None:
    asking.outlast()
    asking.ask(way, who)


@app.task
def enqueue(way: str, who: str) -> None:
    ask.delay(way, who)


@app.task(bind=True)
def replace(self: Any, way: str, who: str) -> None:
    raise self.replace(ask.si(way, who))


WAYS: dict[str, Callable[[str, str], Any]] = {
    "delay": ask.delay,
    "by name": lambda *given: app.send_task(ask.name, given),
    "chain": lambda *given: chain(nothing.si(), nothing.si(), ask.si(*given)).delay(),
    "group": lambda *given: group(nothing.si(), ask.si(*given)).delay(),
    "link": lambda *given: nothing.apply_async(link=ask.si(*given)),
    "link of an error": lambda *given: fail.apply_async(link_error=ask.si(*given)),
    "retry": ask_at_the_third_try.delay,
    "countdown": lambda *given: ask.apply_async(given, countdown=0.7),
    "longer than the limit": ask_late.delay,
    "of a task": enqueue.delay,
    "replaced": replace.delay,
    "beside other baggage": lambda *given: ask.apply_async(given, headers={"baggage": "user=7"}),
    "baggage that is no text": lambda *given: ask.apply_async(given, headers={"baggage": 7}),
}
if not BROKER.startswith("memory:"):
    WAYS["redelivered"] = ask_when_redelivered.delay
if os.environ.get("BACKEND"):
    WAYS["chord"] = lambda *given: (group(nothing.si(), nothing.si()) | ask.si(*given)).delay()


working = ExitStack()


def work() -> None:
    """Work in threads of the application's own process."""
    options: Any = {"pool": "threads", "concurrency": 4, "perform_ping_check": False}
    working.enter_context(start_worker(app, **options))
