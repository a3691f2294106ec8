"""Gives a job that is taken from a queue of the process the context of whoever put it there.

Only a *consumer* gets it: a thread or a task that handles no request, and takes jobs in a loop of
the function that it runs, or of one that this calls. What a request waits for, or takes from a pool
of connections, leaves it its own context. Where it cannot be told whose a job is, it is nobody's.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from functools import lru_cache

from trafficmock_preload.current_context import running_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from trafficmock_preload.current_context import TestContext, TestContexts

_HERE = os.path.dirname(__file__)
_ENTRIES = os.path.join(os.path.dirname(_HERE), "entries") + os.sep
_LIBRARY = os.path.dirname(os.__file__)
_BETWEEN = {
    *(
        os.path.join(_HERE, f"{name}.py")
        for name in ("task_queues", "thread_contexts", "thread_queues")
    ),
    *(os.path.join(_LIBRARY, *path.split("/")) for path in ("queue.py", "threading.py")),
    *(os.path.join(_LIBRARY, "asyncio", name) for name in ("queues.py", "tasks.py")),
}
"""Files whose functions are not counted between a consumer and its queue."""

_MOST_OF_THREAD, _MOST_OF_TASK = 3, 2
"""Functions from the one that a thread or task runs to the one that asks the queue.

More are those of a server that handles a request.
"""

_STATE = "_trafficmock_put_contexts"
_MOST_FORGOTTEN = 64
"""Items that the application may have removed past ``get`` before they are forgotten."""


class PutContexts:
    """The contexts in which the items of a queue were put.

    :ivar is_pool: whether an item was put back by who had taken it: it is a resource, and no job.
    """

    def __init__(self) -> None:
        self._of_items: dict[int, tuple[Any, TestContext | None, int]] = {}
        self._taken: deque[Any] = deque(maxlen=8)
        self.is_pool = False

    @staticmethod
    def of(queue: Any) -> PutContexts:
        found: PutContexts | None = queue.__dict__.get(_STATE)
        return found or queue.__dict__.setdefault(_STATE, PutContexts())

    def remember(self, queue: Any, size: int, item: Any, contexts: TestContexts) -> None:
        """Remember in which context an item is put.

        :param size: the number of items in the queue.

        An object that is put several times, as a constant may be, has none if they differ.
        """
        # A copy, because other threads take items meanwhile.
        taken = tuple(self._taken)
        was_taken = item is not None and any(each() is item for each in taken)
        if was_taken and not contexts.takes_from(queue):
            self.is_pool = True
        if len(self._of_items) > 2 * size + _MOST_FORGOTTEN:
            self._of_items.clear()
        put_in, count = contexts.running(), 1
        known = self._of_items.get(id(item))
        if known is not None:
            put_in, count = (put_in if known[1] is put_in else None), known[2] + 1
        self._of_items[id(item)] = (item, put_in, count)

    def forget(self, item: Any) -> TestContext | None:
        """Forget an item that has left the queue, and return the context in which it was put."""
        known = self._of_items.pop(id(item), None)
        if known is None:
            return None
        _, put_in, count = known
        if count > 1:
            self._of_items[id(item)] = (item, put_in, count - 1)
        return put_in

    def remember_taken(self, item: Any) -> None:
        """Remember an item that was taken by no consumer of the queue: it may come back."""
        if type(item).__weakrefoffset__:
            self._taken.append(weakref.ref(item))


def take_in_thread(
    queue: Any, item: Any, caller: FrameType, contexts: TestContexts, *, waits: bool
) -> None:
    """Take an item for a thread.

    :param caller: the code that asks the queue.
    :param waits: whether it waits for an item.
    """
    consumes = contexts.may_take() and _consumes(caller, _MOST_OF_THREAD, _begins_thread)
    _take(queue, item, contexts, consumes=consumes, waits=waits)


def take_in_task(
    queue: Any, item: Any, caller: FrameType, contexts: TestContexts, *, waits: bool
) -> None:
    """Do the same for a task of asyncio."""
    task = running_task()
    consumes = contexts.may_take(task) and _task_consumes(caller, task)
    _take(queue, item, contexts, consumes=consumes, waits=waits)


def _take(queue: Any, item: Any, contexts: TestContexts, *, consumes: bool, waits: bool) -> None:
    """Take an item.

    :param consumes: whether a consumer does it, which then works in the context of the item.
    """
    puts = PutContexts.of(queue)
    put_in = puts.forget(item)
    if consumes and not puts.is_pool:
        contexts.take(put_in, queue, waits=waits)
    if not contexts.takes_from(queue):
        puts.remember_taken(item)


def _begins_thread(frame: FrameType) -> bool:
    return frame.f_code.co_name == "_bootstrap_inner"


def _task_consumes(frame: FrameType, task: Any) -> bool:
    begin = None if task is None else getattr(task.get_coro(), "cr_frame", None)
    return begin is not None and _consumes(frame, _MOST_OF_TASK, lambda each: each is begin)


def _consumes(frame: FrameType | None, most: int, is_begin: Callable[[FrameType], bool]) -> bool:
    """Return whether the code that asks a queue takes jobs in a loop, and handles no request.

    :param frame: the caller of the queue.
    :param is_begin: tells the function with which a thread or a task begins.
    """
    count, loops = 0, False
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_ENTRIES):
            return False
        if name not in _BETWEEN:
            count += 1
            loops = loops or _is_in_loop(frame)
        if count > most:
            return False
        if is_begin(frame):
            return loops
        frame = frame.f_back
    return False


def _is_in_loop(frame: FrameType) -> bool:
    return any(begin <= frame.f_lineno <= end for begin, end in _loops(frame.f_code))


@lru_cache(maxsize=256)
def _loops(code: CodeType) -> list[tuple[int, int]]:
    """Return the first and the last line of each loop in a function.

    A loop is a jump backwards, but for that of an ``await``. Lines count, because the condition of
    a ``while`` is also there before the loop.
    """
    import dis

    lines = [(at, line) for at, line in dis.findlinestarts(code) if line]
    jumps = {*dis.hasjrel, *dis.hasjabs}
    found, last = [], ""
    for each in dis.get_instructions(code):
        is_of_await = each.opname == "JUMP_BACKWARD_NO_INTERRUPT" or last == "CLEANUP_THROW"
        last = each.opname
        if each.opcode not in jumps or each.argval > each.offset or is_of_await:
            continue
        before = [line for at, line in lines if at <= each.argval]
        within = [line for at, line in lines if each.argval < at <= each.offset]
        covered = [*before[-1:], *within]
        if covered:
            found.append((min(covered), max(covered)))
    return found
