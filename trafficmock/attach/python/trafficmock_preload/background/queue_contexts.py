"""Gives a job that is taken from a queue of the process the context of whoever put it there.

Only a *consumer* gets it: a thread or a task that handles no request, and takes jobs in a loop:
a ``while`` of any of its functions, or a ``for`` of the one that it runs or of one that this calls.
What a request waits for, or takes from a pool of connections, leaves it its own context. Where it
cannot be told whose a job is, it is nobody's.
"""

from __future__ import annotations

import os
import weakref
from collections import deque

from trafficmock_preload.background.code_loops import WHILE
from trafficmock_preload.background.service_loops import (
    begin_of_task,
    begins_thread,
    loops_to,
)
from trafficmock_preload.current_context import running_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from trafficmock_preload.background.job_chains import Work
    from trafficmock_preload.current_context import TestContexts

_HERE = os.path.dirname(__file__)
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
"""Functions from the one that a thread or task runs to the one that asks the queue, in a ``for``.

Among more, a ``for`` may be for anything, as that over the URLs of a job is.
"""

_STATE = "_trafficmock_put_contexts"
_MOST_FORGOTTEN = 64
"""Items that the application may have removed past ``get`` before they are forgotten."""


class PutContexts:
    """The contexts in which the items of a queue were put.

    :ivar is_pool: whether an item was put back by who had taken it: it is a resource, and no job.
    """

    def __init__(self) -> None:
        self._of_items: dict[int, tuple[Any, Work | None, int]] = {}
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
        put_in, count = contexts.puts(), 1
        known = self._of_items.get(id(item))
        if known is not None:
            is_same = known[1] and put_in and known[1].context is put_in.context
            put_in, count = (put_in if is_same else None), known[2] + 1
        self._of_items[id(item)] = (item, put_in, count)

    def forget(self, item: Any) -> Work | None:
        """Forget an item that has left the queue, and return the work for which it was put."""
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
    loop = _loop(caller, _MOST_OF_THREAD, begins_thread) if contexts.may_take() else _NONE
    _take(queue, item, contexts, loop=loop, waits=waits)


def take_in_task(
    queue: Any, item: Any, caller: FrameType, contexts: TestContexts, *, waits: bool
) -> None:
    """Do the same for a task of asyncio."""
    task, loop = running_task(), _NONE
    begin = None if task is None else begin_of_task(task)
    if begin is not None and contexts.may_take(task):
        loop = _loop(caller, _MOST_OF_TASK, lambda each: each is begin)
    _take(queue, item, contexts, loop=loop, waits=waits)


def _take(queue: Any, item: Any, contexts: TestContexts, *, loop: str, waits: bool) -> None:
    """Take an item.

    :param loop: of the code that does it. A consumer then works in the context of the item.
    """
    puts = PutContexts.of(queue)
    put_in = puts.forget(item)
    if loop and not puts.is_pool:
        contexts.take(put_in, queue, waits=waits, is_job=loop == _OF_JOBS)
    if not contexts.takes_from(queue):
        puts.remember_taken(item)


_NONE, _OF_JOBS, _OF_ANYTHING = "", "jobs", "anything"
"""What the code that asks a queue does in a loop: nothing, it takes jobs, or it may do so."""


def _loop(caller: FrameType, most: int, is_begin: Callable[[FrameType], bool]) -> str:
    """Return what the code that asks a queue does in a loop; nothing if it handles a request.

    :param is_begin: tells the function with which a thread or a task begins.
    """
    count, kind = loops_to(caller, is_begin, _BETWEEN)
    if not kind:
        return _NONE
    return _OF_JOBS if kind >= WHILE or count <= most else _OF_ANYTHING
