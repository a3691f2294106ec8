"""Messages of Dramatiq; the broker is that of the variable ``BROKER``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import dramatiq
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import CurrentMessage
from dramatiq.rate_limits.backends import RedisBackend

from tests.interop.clients.python.messages import asking

BROKER = os.environ["BROKER"]


def made_broker() -> Any:
    if BROKER.startswith("amqp:"):
        return RabbitmqBroker(url=BROKER)
    broker = RedisBroker(url=BROKER)
    broker.add_middleware(dramatiq.middleware.GroupCallbacks(RedisBackend(url=BROKER)))
    return broker


broker = made_broker()
broker.add_middleware(CurrentMessage())
dramatiq.set_broker(broker)


@dramatiq.actor
def ask(way: str, who: str) -> None:
    asking.ask(way, who)


@dramatiq.actor
def nothing() -> None:
    """Stand for work that needs no third party."""


@dramatiq.actor(max_retries=2, min_backoff=50, max_backoff=100)
def ask_at_the_third_try(way: str, who: str) -> None:
    message = CurrentMessage.get_current_message()
    if message is None or message.options.get("retries", 0) < 2:
        raise ValueError("as it should")
    asking.ask(way, who)


@dramatiq.actor
def ask_late(way: str, who: str) -> None:
    asking.outlast()
    asking.ask(way, who)


@dramatiq.actor
def enqueue(way: str, who: str) -> None:
    ask.send(way, who)


@dramatiq.actor
def give(way: str, who: str) -> list[str]:
    return [way, who]


@dramatiq.actor
def ask_of_result(_: Any, result: list[str]) -> None:
    asking.ask(*result)


def in_group(*given: str) -> None:
    group = dramatiq.group([nothing.message(), nothing.message()])
    group.add_completion_callback(ask.message(*given))
    group.run()


WAYS: dict[str, Callable[[str, str], Any]] = {
    "send": ask.send,
    "delay": lambda *given: ask.send_with_options(args=given, delay=500),
    "retry": ask_at_the_third_try.send,
    "longer than the limit": ask_late.send,
    "of a message": enqueue.send,
    "pipeline": lambda *given: (
        nothing.message() | ask.message_with_options(args=given, pipe_ignore=True)
    ).run(),
    "success": lambda *given: give.send_with_options(args=given, on_success=ask_of_result),
}
if not BROKER.startswith("amqp:"):
    WAYS["completion of a group"] = in_group
