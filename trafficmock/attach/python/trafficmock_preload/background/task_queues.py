"""Changes queues whose consumers are tasks of asyncio."""

from __future__ import annotations

import sys
from functools import wraps

from trafficmock_preload.background.event_loops import change_threadsafe
from trafficmock_preload.background.queue_contexts import PutContexts, take_in_task
from trafficmock_preload.current_context import running_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts


def change_asyncio_queues(module: ModuleType, contexts: TestContexts) -> None:
    """Change ``asyncio.Queue``, whose consumers are tasks."""
    queue, stack, empty = (module.__dict__[name] for name in ("Queue", "LifoQueue", "QueueEmpty"))
    put_nowait, get, get_nowait = queue.put_nowait, queue.get, queue.get_nowait

    @wraps(put_nowait)
    def changed_put_nowait(self: Any, item: Any) -> None:
        put_nowait(self, item)
        if contexts.has_read and not isinstance(self, stack):
            PutContexts.of(self).remember(self, self.qsize(), item, contexts)

    @wraps(get_nowait)
    def changed_get_nowait(self: Any) -> Any:
        try:
            item = get_nowait(self)
        except empty:
            contexts.find_nothing(self)
            raise
        if contexts.has_read and not isinstance(self, stack) and not _is_handed_on():
            caller = sys._getframe(1)
            waits = caller.f_code is get.__code__
            if not (waits and _is_completed(caller)):
                take_in_task(self, item, caller, contexts, waits=waits)
        return item

    @wraps(get)
    async def changed_get(self: Any) -> Any:
        try:
            return await get(self)
        except BaseException:
            # The consumer waits no longer: what it does next is no job.
            contexts.find_nothing(self)
            raise

    queue.put_nowait, queue.get, queue.get_nowait = (
        changed_put_nowait,
        changed_get,
        changed_get_nowait,
    )


def _is_completed(caller: FrameType | None) -> bool:
    """Return whether ``as_completed`` takes from its own queue what it waits for."""
    for _ in range(_MOST_BETWEEN):
        if caller is None:
            break
        if caller.f_code.co_name == "_wait_for_one":
            return caller.f_globals.get("__name__") == "asyncio.tasks"
        caller = caller.f_back
    return False


_MOST_BETWEEN = 3
"""Functions from the queue's own ``get`` to the coroutine of ``as_completed``."""

_handed_on: set[int] = set()
"""The ids of coroutines that take from a queue in a task of their own, for another one."""


def _is_handed_on() -> bool:
    return bool(_handed_on) and id(getattr(running_task(), "get_coro", int)()) in _handed_on


def change_wait_for(module: ModuleType, contexts: TestContexts) -> None:
    """Let who waits for ``wait_for(queue.get(), …)`` take the job.

    Before Python 3.12 a task of its own takes it.
    """
    change_threadsafe(module, contexts)
    if sys.version_info >= (3, 12):
        return
    original = module.__dict__["wait_for"]

    @wraps(original)
    async def wait_for(fut: Any, timeout: float | None, **kwargs: Any) -> Any:
        code, frame = getattr(fut, "cr_code", None), getattr(fut, "cr_frame", None)
        is_get = code is not None and (code.co_filename, code.co_name) == (__file__, "changed_get")
        if not contexts.has_read or timeout is None or not is_get or frame is None:
            return await original(fut, timeout, **kwargs)
        queue = frame.f_locals["self"]
        _handed_on.add(id(fut))
        try:
            item = await original(fut, timeout, **kwargs)
        except BaseException:
            contexts.find_nothing(queue)
            raise
        finally:
            _handed_on.discard(id(fut))
        take_in_task(queue, item, sys._getframe(1), contexts, waits=True)
        return item

    module.__dict__["wait_for"] = wait_for


def change_anyio_streams(module: ModuleType, contexts: TestContexts) -> None:
    """Change the streams of anyio in memory, whose consumers are tasks of asyncio."""
    sender, receiver = (
        module.__dict__[f"MemoryObject{name}Stream"] for name in ("Send", "Receive")
    )
    full = module.__dict__["WouldBlock"]
    send_nowait, send, receive = sender.send_nowait, sender.send, receiver.receive

    def remember(state: Any, item: Any) -> None:
        if contexts.has_read:
            size = len(state.buffer) + len(state.waiting_senders)
            PutContexts.of(state).remember(state, size, item, contexts)

    @wraps(send_nowait)
    def changed_send_nowait(self: Any, item: Any) -> None:
        try:
            send_nowait(self, item)
        except full:
            # ``send`` keeps it until there is room.
            if sys._getframe(1).f_code is send.__code__:
                remember(self._state, item)
            raise
        remember(self._state, item)

    @wraps(receive)
    async def changed_receive(self: Any) -> Any:
        try:
            item = await receive(self)
        except BaseException:
            contexts.find_nothing(self._state)
            raise
        if contexts.has_read:
            caller: Any = sys._getframe(1)
            if caller.f_code.co_name == "__anext__":
                caller = caller.f_back
            take_in_task(self._state, item, caller, contexts, waits=True)
        return item

    sender.send_nowait, receiver.receive = changed_send_nowait, changed_receive
