"""Tells whether the code that has started a job waits for it.

A thread says so itself, when it begins to wait (:mod:`.job_waits`): to look at the code of
another thread while it runs is not safe. Of a task of asyncio its suspended functions say what it
awaits.
"""

from __future__ import annotations

import os
import sys
from time import monotonic, sleep

from trafficmock_preload.sending_code import APPLICATION, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType
    from typing import Any

_JOINS = {
    "anyio/_backends/_asyncio.py": {"__aexit__"},
    "asyncio/taskgroups.py": {"__aexit__"},
    "asyncio/tasks.py": {"_wait_for_one", "wait", "wait_for"},
}
"""Coroutines that wait for tasks, by the ends of the names of their files."""

_MOMENT, _POLL = 0.1, 0.0005
"""Seconds that a thread waits until it is known whether it is waited for, and between looks."""

_COLLECTIONS = (list, tuple, set, frozenset, dict)
_ITERATORS: Any = (type(iter([])), type(iter(())))
_MOST_ITEMS = 10_000
_MOST_FRAMES = 200


def is_joined(work: Any, starter: Any, pauses: bool) -> bool:
    """Return whether the code that has started a job waits for it, or for one beside it.

    What only goes on at the same time does not wait. While that is not known, a thread waits for it
    a moment.

    :param work: the :class:`.Work` that is the job.
    :param starter: the one that has started it.
    :param pauses: whether this thread may wait.
    """
    task = None if work.origin is None else work.origin()
    until = monotonic() + _MOMENT
    while True:
        if starter.waits_for(work) or (task is not None and _awaits(task, work)):
            return True
        if not pauses or starter.is_over or work.has_paused or _in_loop(task):
            return False
        if monotonic() > until:
            work.has_paused = True
        else:
            sleep(_POLL)


def _in_loop(task: Any) -> bool:
    """Return whether this thread has a loop that it must not stop.

    That is one of asyncio, Twisted or greenlets.

    It may stop one of asyncio, if a task of another loop is waited for: then it is one of this work
    alone.
    """
    threadable = sys.modules.get("twisted.python.threadable")
    if threadable is not None and threadable.isInIOThread():
        return True
    greenlet = sys.modules.get("greenlet")
    if greenlet is not None and greenlet.getcurrent().parent is not None:
        return True
    asyncio = sys.modules.get("asyncio")
    running = None if asyncio is None else asyncio._get_running_loop()
    return running is not None and (task is None or task.get_loop() is running)


def _waits(frames: list[FrameType], work: Any) -> bool:
    """Return whether coroutines wait for a job in a function of a library.

    :param frames: the innermost first.
    """
    return _holds(frames, work) and any(
        _is_join(frame) and kind_of(caller.f_code.co_filename) == APPLICATION
        for frame, caller in zip(frames, frames[1:])
    )


def _is_join(frame: FrameType) -> bool:
    name = frame.f_code.co_name
    file = frame.f_code.co_filename.replace(os.sep, "/")
    return any(name in names and file.endswith(end) for end, names in _JOINS.items())


def _holds(frames: Iterable[FrameType], work: Any) -> bool:
    """Return whether variables of functions have the result of a job, also in a collection."""
    result = None if work.result is None else work.result()
    return result is not None and any(
        _is_or_has(value, result) for frame in frames for value in [*frame.f_locals.values()]
    )


def _is_or_has(value: Any, result: Any) -> bool:
    if value is result:
        return True
    if type(value) in _ITERATORS:
        value = next(iter(value.__reduce__()[1]), None)
    if type(value) not in _COLLECTIONS or len(value) > _MOST_ITEMS:
        return False
    return any(each is result for each in tuple(value))


def _awaits(task: Any, work: Any) -> bool:
    """Return whether a task of asyncio awaits a job."""
    frames = [*_awaiting(task)]
    if frames and frames[0].f_code.co_name == "to_thread":
        waited = getattr(task, "_fut_waiter", None)
        return waited is not None and work.result is not None and work.result() is waited
    if not frames or kind_of(frames[0].f_code.co_filename) != APPLICATION:
        return _waits(frames, work)
    waited = getattr(task, "_fut_waiter", None)
    result = None if work.result is None else work.result()
    if any(each is not None and each is result for each in (waited, *_children(waited))):
        return True
    # It may await the one beside it.
    return work.is_beside(waited) or (hasattr(waited, "get_coro") and _holds(frames, work))


def _awaiting(task: Any) -> list[FrameType]:
    """Return the functions of a task that wait for each other, the innermost first."""
    found = []
    coro = task.get_coro()
    for _ in range(_MOST_FRAMES):
        frame = next(
            (
                each
                for name in ("cr_frame", "gi_frame", "ag_frame")
                if (each := getattr(coro, name, None)) is not None
            ),
            None,
        )
        if frame is None:
            break
        if getattr(coro, "cr_running", False):
            return []
        found.append(frame)
        coro = getattr(coro, "cr_await", None) or getattr(coro, "gi_yieldfrom", None)
    return found[::-1]


def _children(waited: Any) -> Iterator[Any]:
    """Yield the tasks of ``gather`` or ``shield`` behind a future."""
    yield from getattr(waited, "_children", ())
    for callback, *_ in getattr(waited, "_callbacks", None) or ():
        for cell in getattr(callback, "__closure__", None) or ():
            yield cell.cell_contents
