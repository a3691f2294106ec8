"""Tells what a thread or a task does for its request from a loop that works for everyone.

What a request starts is its own work. But often the first request starts what serves all later
ones: a consumer, a poller, a listener. Nobody says so; the code that is running does. It is a *loop
for everyone* if

- a function of the application goes round a ``while`` without an end,
- it goes round any ``while``, or an ``async for``, after the request is over,
- the application is called back by a library that goes round a ``while``.

A generator gives its items to whoever asks for them: its loops do not count. Neither do those of
libraries by which the application sends requests, or calls its own code again after an error.
"""

from __future__ import annotations

import os
import sys

from trafficmock_preload.background.code_loops import ENDLESS, WHILE, loop_at
from trafficmock_preload.sending_code import APPLICATION, OWN, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from types import FrameType
    from typing import Any

BEGIN = "begun"
"""The name of functions of this preload by which a thread, a greenlet or a job begins."""

_ENTRIES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "entries") + os.sep
_REPEATING = frozenset(
    {"aiohttp", "backoff", "botocore", "httpcore", "httpx", "requests", "retry", "retrying"}
    | {"stamina", "tenacity", "urllib3"}
)
"""Libraries whose loops repeat one thing for whoever calls them."""

_GENERATOR = 0x20 | 0x200
"""The flags of generators, asynchronous ones too (``inspect.CO_GENERATOR``)."""

_MOST_FRAMES = 200


def runs_for_everyone(task: Any, *, is_over: bool, is_begun: bool) -> bool:
    """Return whether the code that is running does not work for the request that has begun it.

    :param task: of asyncio, that runs; ``None`` if none does.
    :param is_over: whether the request is over.
    :param is_begun: whether the request has begun this thread or job. If not, and in no task, the
        code was called in a copy of its context: who waits for it is not known.
    """
    begin = None if task is None else begin_of_task(task)
    if task is not None and begin is None:
        return False
    is_begun = is_begun or task is not None
    return is_for_everyone(
        sys._getframe(1),
        lambda each: each is begin,
        is_over=is_over and is_begun,
        counts_libraries=is_begun,
    )


def begins_thread(frame: FrameType) -> bool:
    """Return whether a thread, or a job of a pool, begins with the caller of this code."""
    code = frame.f_code
    if code.co_name == "_bootstrap_inner":
        return True
    if code.co_name == BEGIN and kind_of(code.co_filename) == OWN:
        return True
    return frame.f_back is None and _in_greenlet()


def _in_greenlet() -> bool:
    """Return whether a greenlet runs, but the one that every thread has."""
    greenlet = sys.modules.get("greenlet")
    return greenlet is not None and greenlet.getcurrent().parent is not None


def begin_of_task(task: Any) -> FrameType | None:
    """Return the outermost code of a task; ``None`` if it is no coroutine of Python."""
    found: FrameType | None = getattr(task.get_coro(), "cr_frame", None)
    return found


def is_for_everyone(
    frame: FrameType | None,
    is_last: Callable[[FrameType], bool],
    *,
    is_over: bool,
    counts_libraries: bool = True,
    is_own_too: bool = False,
) -> bool:
    """Return whether code runs in a loop that works for everyone.

    :param frame: the code.
    :param is_last: tells the function with which its thread or task begins.
    :param is_over: whether the request that has begun it is over.
    :param counts_libraries: whether libraries' loops count that call the application.
    :param is_own_too: whether they count, too, where no code of the application is called.
    """
    by_library, calls = False, is_own_too
    while frame is not None:
        code = frame.f_code
        kind = kind_of(code.co_filename)
        if kind == OWN:
            if code.co_filename.startswith(_ENTRIES):
                return False
            if begins_thread(frame):
                break
        elif not code.co_flags & _GENERATOR:
            loop = loop_at(frame)
            if kind == APPLICATION:
                by_library, calls = False, True
                if loop == ENDLESS or (is_over and loop == WHILE):
                    return True
            elif loop >= WHILE and _top(frame) not in _REPEATING:
                by_library = True
        if is_last(frame):
            break
        frame = frame.f_back
    return by_library and calls and counts_libraries


def loops_to(
    frame: FrameType | None, is_last: Callable[[FrameType], bool], apart: Container[str] = ()
) -> tuple[int, int]:
    """Return how many functions there are up to a begin, and the kind of loop around this code.

    It is in none if the begin is not found, or if the code handles a request.

    :param apart: files whose functions do not count.
    """
    count, kind = 0, 0
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.f_code.co_filename.startswith(_ENTRIES):
            break
        if frame.f_code.co_filename not in apart:
            count += 1
            kind = max(kind, loop_at(frame))
        if is_last(frame):
            return count, kind
        frame = frame.f_back
    return count, 0


def _top(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
