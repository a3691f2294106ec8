"""Tells whether the code that has started a job waits for it.

A thread says so itself, when it begins to wait (:mod:`.job_waits`): to look at the code of
another thread while it runs is not safe. Of a task of asyncio its suspended functions say what it
awaits: the future that it stopped at, or something that has this and the job's, too.
"""

from __future__ import annotations

import gc
import sys
from functools import lru_cache
from time import sleep
from types import AsyncGeneratorType, CellType, CoroutineType, GeneratorType

from trafficmock_preload.background.awaited_names import (
    ASKING,
    awaited_names,
    instructions,
    pairs,
)
from trafficmock_preload.sending_code import APPLICATION, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any

_TASKS = "asyncio.tasks"
_JOINS = frozenset({"_wait", "_wait_for_one", "wait", "wait_for"})
"""Coroutines of asyncio that wait for all futures that they have."""

_LOOKS, _POLL = 200, 0.0005
"""How often a thread looks until it is known whether it is waited for, and seconds between looks.

They are counted: libraries for tests make the clock stand still.
"""

_COLLECTIONS = (list, tuple, set, frozenset, dict)
_HOLDERS: tuple[Any, ...] = (
    *_COLLECTIONS,
    *(CellType, type(iter([])), type(iter(())), type(iter({})), type(iter(set()))),
    *(type(iter({}.values())), type(iter({}.items())), type({}.values()), enumerate, zip),
)
"""Types of what has futures: collections, what goes through them, and variables of functions."""

_LOADS = ("LOAD_FAST", "LOAD_DEREF")
_STEPS = frozenset({"async_generator_asend", "async_generator_athrow"})
"""Types by which an asynchronous generator is awaited."""

_MOST_ITEMS = 10_000
_MOST_WAITING = 3
_MOST_FRAMES = 200


def is_joined(work: Any, starter: Any, pauses: bool) -> bool:
    """Return whether the code that has started a job waits for it.

    What only goes on at the same time does not wait. While that is not known, a thread waits for it
    a moment.

    :param work: the :class:`.Work` that is the job.
    :param starter: the one that has started it.
    :param pauses: whether this thread may wait.
    """
    task = None if starter.task is None else starter.task()
    looks = 0
    while True:
        if work.was_joined or starter.waits_for(work) or (task is not None and _awaits(task, work)):
            return True
        if not pauses or starter.is_over or work.has_paused or _in_loop(task):
            return False
        looks += 1
        if looks > _LOOKS:
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


def _awaits(task: Any, work: Any) -> bool:
    """Return whether a task of asyncio awaits a job."""
    result = None if work.result is None else work.result()
    waited = getattr(task, "_fut_waiter", None)
    if result is None:
        return False
    # It waits for no future after ``sleep(0)``.
    if waited is not None and any(each is result for each in _behind(waited)):
        return True
    return any(_goes_on(each, frame, waited, result) for each, frame in _awaiting(task))


def _goes_on(coroutine: Any, frame: FrameType, waited: Any, result: Any) -> bool:
    """Return whether a function that waits for a future waits for that of a job, too."""
    code = frame.f_code
    held = gc.get_referents(coroutine)
    if sys.version_info < (3, 11):
        others = (frame.f_globals, frame.f_builtins)
        held = [each for each in gc.get_referents(frame) if not any(each is one for one in others)]
    if code.co_name in _JOINS and frame.f_globals.get("__name__") == _TASKS:
        return any(_has(each, result) for each in held)
    if kind_of(code.co_filename) != APPLICATION:
        return False
    having = [each for each in held if _has(each, result)]
    if not having:
        return False
    if any(_is_completing(each) or (waited is not None and _has(each, waited)) for each in having):
        return True
    # A variable has it: is that awaited later?
    names = [name for at, name in awaited_names(code) if at > frame.f_lasti]
    return bool(names) and any(_has(frame.f_locals.get(name), result) for name in names)


@lru_cache(maxsize=1024)
def _asked(code: CodeType) -> list[tuple[int, str]]:
    """Return the variables that a function asks for a result, and the offsets of that."""
    return [
        (two.offset, str(one.argval))
        for one, two in pairs(code)
        if two.argval in ASKING and one.opname.startswith(_LOADS)
    ]


def waited_later(frame: FrameType | None, result: Any) -> Iterator[Any]:
    """Yield what code that waits for a future or a thread will wait for after it.

    That is what the same collection has, and variables of which it asks for a result.

    :param frame: the code. Of another thread it must not be.
    """
    for _ in range(_MOST_WAITING):
        if frame is None or kind_of(frame.f_code.co_filename) != APPLICATION:
            break
        values = frame.f_locals
        for value in [*values.values()]:
            if type(value) in _HOLDERS and _has(value, result):
                yield from _leaves(value)
        for at, name in _asked(frame.f_code):
            if at > frame.f_lasti:
                yield values.get(name)
        frame = frame.f_back


def _leaves(value: Any, depth: int = 3) -> Iterator[Any]:
    """Yield what collections in each other have."""
    if type(value) not in _HOLDERS:
        yield value
    elif depth:
        for each in gc.get_referents(value):
            yield from _leaves(each, depth - 1)


def takes_result(frame: FrameType) -> bool:
    """Return whether code asks the future that it is about to get for its result at once."""
    return frame.f_lasti in _results(frame.f_code)


@lru_cache(maxsize=1024)
def _results(code: CodeType) -> set[int]:
    """Return the offsets of the calls whose results are asked for theirs at once."""
    every = instructions(code)
    found: set[int] = set()
    for at, each in enumerate(every):
        if each.opname.startswith("CALL"):
            after = [one for one in every[at + 1 : at + 4] if "_FAST" not in one.opname]
            if after and after[0].argval == "result":
                # A call may be said to be anywhere in its cache.
                found.update(range(each.offset, every[at + 1].offset))
    return found


def _has(value: Any, result: Any, depth: int = 3) -> bool:
    """Return whether something is a future, has it, or is done when that is."""
    kind = type(value)
    if hasattr(kind, "_asyncio_future_blocking"):
        return any(each is result for each in _behind(value))
    if value is result:
        return True
    if not depth or (kind not in _HOLDERS and not _is_completing(value)):
        return False
    if kind in _COLLECTIONS and len(value) > _MOST_ITEMS:
        return False
    return any(_has(each, result, depth - 1) for each in gc.get_referents(value))


def _is_completing(value: Any) -> bool:
    """Return whether something is what ``as_completed`` has returned."""
    if type(value) is GeneratorType:
        return value.gi_code.co_name == "as_completed"
    return type(value).__module__ == _TASKS


def _awaiting(task: Any) -> Iterator[tuple[Any, FrameType]]:
    """Yield the functions of a task that wait for each other, with their frames."""
    coroutine = task.get_coro()
    for _ in range(_MOST_FRAMES):
        if type(coroutine) is CoroutineType:
            frame, after = coroutine.cr_frame, coroutine.cr_await
            is_running = coroutine.cr_running
        elif type(coroutine) is AsyncGeneratorType:
            frame, after = coroutine.ag_frame, coroutine.ag_await
            is_running = False
        elif type(coroutine) is GeneratorType:
            frame, after = coroutine.gi_frame, coroutine.gi_yieldfrom
            is_running = coroutine.gi_running
        else:
            break
        if frame is None or is_running:
            break
        yield coroutine, frame
        coroutine = after
        if type(after).__name__ in _STEPS:
            made = (each for each in gc.get_referents(after) if type(each) is AsyncGeneratorType)
            coroutine = next(made, None)


def _behind(waited: Any) -> Iterator[Any]:
    """Yield a future, and those of ``gather`` or ``shield`` behind it."""
    yield waited
    for each in getattr(waited, "_children", ()):
        yield from _behind(each)
    for callback, *_ in getattr(waited, "_callbacks", None) or ():
        if getattr(callback, "__name__", "") == "_outer_done_callback":
            # That of ``shield``.
            for cell in callback.__closure__ or ():
                if hasattr(type(cell.cell_contents), "_asyncio_future_blocking"):
                    yield from _behind(cell.cell_contents)
