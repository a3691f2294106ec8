"""Jobs of RQ; Redis is that of the variable ``BROKER``."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from redis import Redis
from rq import Callback, Queue, Retry, get_current_job

from tests.interop.clients.python.messages import asking

queue = Queue(connection=Redis.from_url(os.environ["BROKER"]))
ask = asking.ask


def nothing() -> None:
    """Stand for work that needs no third party."""


def ask_late(way: str, who: str) -> None:
    asking.outlast()
    asking.ask(way, who)


def ask_at_the_third_try(way: str, who: str) -> None:
    job = get_current_job()
    if job is None or job.retries_left:
        raise ValueError("as it should")
    asking.ask(way, who)


def enqueue(way: str, who: str) -> None:
    queue.enqueue(ask, way, who)


def ask_of_job(job: Any, *_: Any) -> None:
    asking.ask(*job.kwargs["given"])


def give(given: tuple[str, str]) -> None:
    """Leave the arguments to the callback."""


def fail(given: tuple[str, str]) -> None:
    raise ValueError(given)


WAYS: dict[str, Callable[[str, str], Any]] = {
    "enqueue": lambda *given: queue.enqueue(ask, *given),
    "many": lambda *given: queue.enqueue_many([Queue.prepare_data(ask, given)]),
    "retry": lambda *given: queue.enqueue(ask_at_the_third_try, *given, retry=Retry(max=2)),
    "of a job": lambda *given: queue.enqueue(enqueue, *given),
    "dependent": lambda *given: queue.enqueue(ask, *given, depends_on=queue.enqueue(nothing)),
    "later": lambda *given: queue.enqueue_in(timedelta(seconds=1), ask, *given),
    "longer than the limit": lambda *given: queue.enqueue(ask_late, *given),
    "success": lambda *given: queue.enqueue(give, given=given, on_success=Callback(ask_of_job)),
    "failure": lambda *given: queue.enqueue(fail, given=given, on_failure=Callback(ask_of_job)),
}
