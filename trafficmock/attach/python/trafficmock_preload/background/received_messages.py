"""Lets what receives messages work for none of the tests that publish them.

A listener that the first request starts is woken by a socket. Who has published a message is not in
it; a loop that works for everyone is told by :mod:`.service_loops`, but a loop over messages looks
like one over the rows of an answer.
"""

from __future__ import annotations

import inspect
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts


def change_redis(module: ModuleType, contexts: TestContexts) -> None:
    """Leave the context when a message of a subscription of redis-py comes."""
    pubsub: Any = module.__dict__["PubSub"]
    original = pubsub.handle_message

    if inspect.iscoroutinefunction(original):

        @wraps(original)
        async def handle_later(self: Any, *args: Any, **kwargs: Any) -> Any:
            contexts.receive()
            return await original(self, *args, **kwargs)

        pubsub.handle_message = handle_later
        return

    @wraps(original)
    def handle(self: Any, *args: Any, **kwargs: Any) -> Any:
        contexts.receive()
        return original(self, *args, **kwargs)

    pubsub.handle_message = handle


def change_psycopg(module: ModuleType, contexts: TestContexts, name: str) -> None:
    """Do the same for the notifications of PostgreSQL that psycopg yields.

    :param name: the class of connections.
    """
    connection: Any = module.__dict__[name]
    original = connection.notifies

    if inspect.isasyncgenfunction(original):

        @wraps(original)
        async def notifies_later(self: Any, *args: Any, **kwargs: Any) -> Any:
            async for each in original(self, *args, **kwargs):
                contexts.receive()
                yield each

        connection.notifies = notifies_later
        return

    @wraps(original)
    def notifies(self: Any, *args: Any, **kwargs: Any) -> Any:
        for each in original(self, *args, **kwargs):
            contexts.receive()
            yield each

    connection.notifies = notifies
