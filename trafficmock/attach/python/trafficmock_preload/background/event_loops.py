"""Says in whose context loops of asyncio run tasks, timers, and what has come from sockets.

Python runs each in a copy of the context of the code that gave it to the loop. That code may be the
first of many requests, for all of which a timer, a connection or a task works from then on.
"""

from __future__ import annotations

import os
import sys
import weakref
from functools import partial, wraps
from types import FunctionType, MethodType

from trafficmock_preload.background.service_loops import begin_of_task, is_for_everyone
from trafficmock_preload.current_context import running_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any

    from trafficmock_preload.background.job_chains import Work
    from trafficmock_preload.current_context import TestContext, TestContexts

_FRAMEWORKS = frozenset(
    {"aiohttp", "asgiref", "channels", "daphne", "django", "fastapi", "hypercorn", "litestar"}
    | {"quart", "sanic", "starlette", "tornado", "uvicorn"}
)
"""Libraries that handle a request, or a part of it, in tasks of their own."""

_WAITING = (
    os.path.join(os.path.dirname(os.__file__), "asyncio") + os.sep,
    os.path.join(os.path.dirname(__file__), "task_queues.py"),
)
"""Files of coroutines that wait for something."""

_OPENING = (
    *("create_connection", "create_unix_connection", "create_datagram_endpoint"),
    *("create_server", "create_unix_server", "connect_read_pipe", "connect_write_pipe"),
)
"""Methods of uvloop by which a connection, or what takes some, is opened."""

_FUNCTIONS = frozenset({FunctionType, MethodType, partial})
"""Types of callbacks that may be of the application; the steps of tasks are none of them."""

_begun_elsewhere: weakref.WeakKeyDictionary[Any, Work] = weakref.WeakKeyDictionary()
"""The work of coroutines that another thread has given to a loop."""

_AWAITING = frozenset({"as_completed", "gather", "run_until_complete", "shield", "wait_for"})
"""Functions of asyncio that start tasks, and wait for them, or have them awaited."""

_JOINING = frozenset({"gather", "wait_for"})
"""Functions of asyncio that start tasks, and wait for them."""


def change_loops(module: ModuleType, contexts: TestContexts, owner: str, timers: str) -> None:
    """Change how a loop starts tasks, and in which context it calls what its timers were given.

    :param owner: the name of the class of the loop.
    :param timers: the one of ``call_later`` and ``call_at`` by which the other works.
    """
    change_tasks(module, contexts, owner)
    change_callbacks(module, contexts, owner)
    change_timers(module, contexts, owner, timers)


def change_callbacks(module: ModuleType, contexts: TestContexts, owner: str) -> None:
    """Note what the loop calls for code of the application, as soon as it can, and by what.

    :param owner: the name of the class of the loop.
    """
    loop: Any = module.__dict__[owner]

    def change(name: str) -> None:
        original = getattr(loop, name)

        @wraps(original)
        def call(self: Any, callback: Any, *args: Any, context: Any = None) -> Any:
            if type(callback) in _FUNCTIONS and contexts.has_read:
                callback = contexts.callback(callback, args, sys._getframe(1), context)
            return original(self, callback, *args, context=context)

        setattr(loop, name, call)

    change("call_soon")
    change("call_soon_threadsafe")


def change_threadsafe(module: ModuleType, contexts: TestContexts) -> None:
    """Let the future of ``run_coroutine_threadsafe`` be that of the task, too."""
    original = module.__dict__["run_coroutine_threadsafe"]

    @wraps(original)
    def run_coroutine_threadsafe(coro: Any, loop: Any) -> Any:
        context = (
            contexts.running(gives=True) if contexts.has_read and hasattr(coro, "cr_code") else None
        )
        work = contexts.starts(coro, context, sys._getframe(1))
        if work is None:
            return original(coro, loop)
        _begun_elsewhere[coro] = work
        future = original(coro, loop)
        work.has_result(future)
        return future

    module.__dict__["run_coroutine_threadsafe"] = run_coroutine_threadsafe


def change_timers(module: ModuleType, contexts: TestContexts, owner: str, method: str) -> None:
    """Call what ``call_later`` and ``call_at`` have been given in no context.

    Such a callback is often a batch, which the first of several requests starts.

    :param owner: the name of the class of the loop.
    :param method: the one of the two by which the other works.
    """
    loop: Any = module.__dict__[owner]
    original = getattr(loop, method)

    @wraps(original)
    def call(self: Any, time: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        if context is None and contexts.has_read:
            context = contexts.copied(None)
        return original(self, time, callback, *args, context=context)

    setattr(loop, method, call)


def change_sockets(module: ModuleType, contexts: TestContexts) -> None:
    """Call what a connection has been given in no context, whichever request has opened it."""
    _change_adding(module.__dict__["BaseSelectorEventLoop"], contexts, "_add_reader", "_add_writer")


def _change_adding(loop: Any, contexts: TestContexts, *names: str) -> None:
    """Change methods that are given what to call when a socket is ready."""

    def change(name: str) -> None:
        original = getattr(loop, name)

        @wraps(original)
        def add(self: Any, *args: Any) -> Any:
            if contexts.begun() is None:
                return original(self, *args)
            return contexts.copied(None).run(original, self, *args)

        setattr(loop, name, add)

    for each in names:
        change(each)


def change_uvloop(module: ModuleType, contexts: TestContexts) -> None:
    """Change uvloop's loops, whose connections keep the context in which they are opened."""
    change_loops(module, contexts, "Loop", "call_later")
    loop: Any = module.__dict__["Loop"]

    _change_adding(loop, contexts, "add_reader", "add_writer")

    def change(name: str) -> None:
        original = getattr(loop, name)

        @wraps(original)
        async def opened(self: Any, *args: Any, **kwargs: Any) -> Any:
            before = contexts.enter(None)
            try:
                return await original(self, *args, **kwargs)
            finally:
                contexts.enter(before)

        setattr(loop, name, opened)

    for name in _OPENING:
        change(name)


def change_tasks(module: ModuleType, contexts: TestContexts, owner: str) -> None:
    """Change how a loop of asyncio starts a task.

    :param owner: the name of the class of the loop.
    """
    loop: Any = module.__dict__[owner]
    original = loop.create_task

    @wraps(original)
    def create_task(self: Any, coro: Any, **kwargs: Any) -> Any:
        begun = contexts.begun() if contexts.has_read else None
        if begun is None or kwargs.get("context") is not None:
            return original(self, coro, **kwargs)
        caller = sys._getframe(1)
        if _waits(coro):
            if coro.cr_code.co_name != "to_thread":
                return original(self, coro, **kwargs)
            return _started(lambda: original(self, coro, **kwargs), begun, coro, caller, contexts)
        task = running_task()
        if task is not None and begun.is_handled_by(task):
            made = _started(lambda: original(self, coro, **kwargs), begun, coro, caller, contexts)
            if _is_part(caller, begun):
                begun.add_part(made)
            return made
        context = _context_of(coro, task, caller, contexts)

        def start() -> Any:
            return contexts.copied(context, begun).run(original, self, coro, **kwargs)

        return _started(start, context, coro, caller, contexts)

    loop.create_task = create_task


def _started(
    start: Callable[[], Any],
    context: TestContext | None,
    coro: Any,
    caller: FrameType,
    contexts: TestContexts,
) -> Any:
    """Start a task, and note what work it is.

    :param start: starts it.
    """
    work = _begun_elsewhere.pop(coro, None)
    if work is None or work.context is not context:
        work = contexts.starts(coro, context, caller)
    if work is None:
        return start()
    if work.is_doubtful and _is_awaited(caller, running_task()):
        work.vouch()
    before = contexts.enter_work(work)
    try:
        made = start()
    finally:
        contexts.enter_work(before)
    work.is_task(made)
    return made


def _is_awaited(caller: FrameType, task: Any) -> bool:
    """Return whether a task is started by what is sure to wait for it.

    :param caller: the code that starts it.
    :param task: that runs.
    """
    frame: FrameType | None = caller
    while frame is not None:
        module, name = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if module == "asyncio.taskgroups":
            return frame.f_locals["self"]._parent_task is task
        if module == "anyio._backends._asyncio":
            scope = getattr(frame.f_locals.get("self"), "cancel_scope", None)
            return task is not None and getattr(scope, "_host_task", None) is task
        if name in _AWAITING and module in {"asyncio.base_events", "asyncio.tasks"}:
            return True
        if module not in {"asyncio.runners", "asyncio.tasks"}:
            return False
        frame = frame.f_back
    return False


def _waits(coro: Any) -> bool:
    """Return whether a coroutine is one of asyncio's own: its task begins no work."""
    code = getattr(coro, "cr_code", None)
    return code is not None and code.co_filename.startswith(_WAITING)


def _context_of(
    coro: Any, task: Any, caller: FrameType, contexts: TestContexts
) -> TestContext | None:
    """Return the context of a task that is started by what a request has started.

    :param task: that runs.
    :param caller: the code that starts the other one.
    """
    context = contexts.running(gives=True)
    begin = None if task is None else begin_of_task(task)
    if context is None or begin is None or contexts.has_taken():
        return context
    is_over = context.closed_at is not None
    if is_over and getattr(coro, "cr_code", None) is begin.f_code:
        # It starts itself again.
        return None
    is_for_all = is_for_everyone(
        caller, lambda each: each is begin, is_over=is_over, is_own_too=True
    )
    return None if is_for_all else context


def _is_part(caller: FrameType, context: TestContext) -> bool:
    """Return whether a task is started by a framework, or by what waits for it.

    :param caller: the code that starts it.
    :param context: of the request.
    """
    frame: FrameType | None = caller
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == "asyncio.taskgroups":
            return context.is_handled_by(frame.f_locals["self"]._parent_task)
        if module == "anyio._backends._asyncio":
            scope = getattr(frame.f_locals.get("self"), "cancel_scope", None)
            return context.is_handled_by(getattr(scope, "_host_task", None))
        if module != "asyncio.tasks":
            return module.partition(".")[0] in _FRAMEWORKS
        if frame.f_code.co_name in _JOINING:
            return True
        frame = frame.f_back
    return False
