"""Lets what receives messages work for none of the tests that publish them.

A listener that the first request starts is woken by a socket. Who has published a message is not in
it; a loop that works for everyone is told by :mod:`.service_loops`, but a loop over messages looks
like one over the rows of an answer.
"""

from __future__ import annotations

import inspect
import sys
from functools import wraps

from trafficmock_preload.background.code_loops import loop_at
from trafficmock_preload.background.service_loops import begin_of_task, begins_thread, loops_to
from trafficmock_preload.current_context import running_task
from trafficmock_preload.sending_code import APPLICATION, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType
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


_READS = {
    "StreamCommands": ("xread", "xreadgroup"),
    "ListCommands": ("blmove", "blmpop", "blpop", "brpop", "brpoplpush"),
    "SortedSetCommands": ("bzmpop", "bzpopmax", "bzpopmin"),
}
"""The methods of redis-py that wait for what others write."""


def change_redis_reads(module: ModuleType, contexts: TestContexts) -> None:
    """Leave the context when a loop over what others write into Redis gets something.

    Outside loops it may be the reply that a request waits for.
    """
    for name, methods in _READS.items():
        owner: Any = module.__dict__.get(name)
        for method in methods:
            if hasattr(owner, method):
                _change_read(owner, method, contexts)


def _change_read(owner: Any, name: str, contexts: TestContexts) -> None:
    original = getattr(owner, name)

    async def later(found: Any) -> Any:
        answer = await found
        if answer and _is_in_loop(sys._getframe(1)):
            contexts.receive()
        return answer

    @wraps(original)
    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(self, *args, **kwargs)
        if contexts.has_read:
            if inspect.isawaitable(found):
                return later(found)
            if found and _is_in_loop(sys._getframe(1)):
                contexts.receive()
        return found

    setattr(owner, name, read)


def _is_in_loop(caller: FrameType) -> bool:
    """Return whether code, or what calls it in its thread or task, goes round a loop."""
    task = running_task()
    begin = None if task is None else begin_of_task(task)
    is_last = begins_thread if task is None else (lambda each: each is begin)
    return loops_to(caller, is_last)[1] > 0


def change_socket_files(module: ModuleType, contexts: TestContexts) -> None:
    """Leave the context when a loop of the application over ``socket.makefile`` gets something.

    It does so once the request that has begun it is over, as with any ``while``. A library reads
    the answers to its requests by such a file, too, so it counts who reads.
    """
    owner: Any = module.__dict__["SocketIO"]
    original = owner.readinto

    @wraps(original)
    def readinto(self: Any, buffer: Any) -> Any:
        count = original(self, buffer)
        if count and contexts.has_read:
            begun = contexts.begun()
            if begun is not None and begun.closed_at is not None:
                frame = sys._getframe(1)
                if kind_of(frame.f_code.co_filename) == APPLICATION and loop_at(frame):
                    contexts.receive()
        return count

    owner.readinto = readinto
