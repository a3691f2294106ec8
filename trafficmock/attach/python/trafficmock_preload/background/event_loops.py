"""Says in whose context loops of asyncio run tasks, timers, and what has come from sockets.

Python runs each in a copy of the context of the code that gave it to the loop. That code may be the
first of many requests, for all of which a timer, a connection or a task works from then on.
"""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import suppress
from functools import partial, wraps
from types import FunctionType, MethodType

from trafficmock_preload.background.job_chains import FRAMEWORKS
from trafficmock_preload.background.joins import takes_result
from trafficmock_preload.background.service_loops import begin_of_task, is_for_everyone
from trafficmock_preload.current_context import ConsumerContext, running_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any

    from trafficmock_preload.background.job_chains import Work
    from trafficmock_preload.current_context import TestContext, TestContexts

_OPENING = (
    *("create_connection", "create_unix_connection", "create_datagram_endpoint"),
    *("create_server", "create_unix_server", "connect_read_pipe", "connect_write_pipe"),
)
"""Methods of uvloop by which a connection, or what takes some, is opened."""

_FUNCTIONS = frozenset({FunctionType, MethodType, partial})
"""Types of callbacks that may be of the application; the steps of tasks are none of them."""

_begun_elsewhere: weakref.WeakKeyDictionary[Any, Work] = weakref.WeakKeyDictionary()
"""The work of coroutines that another thread has given to a loop."""

_STARTING = frozenset({"_spawn", "create_task"})
"""Methods of groups of asyncio and anyio that start a task."""

_WAITING = (
    os.path.join(os.path.dirname(os.__file__), "asyncio") + os.sep,
    os.path.join(os.path.dirname(__file__), "task_queues.py"),
)
"""Files of coroutines that wait for something."""

_CALLED = os.path.join(os.path.dirname(os.path.dirname(__file__)), "current_context.py")

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
        work = contexts.starts(context, sys._getframe(1))
        if work is None:
            return original(coro, loop)
        work.was_joined = work.is_doubtful and takes_result(sys._getframe(1))
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
            # As for a socket of asyncio: what is called is no request yet.
            before = contexts.enter(ConsumerContext(None))
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
        caller, task = sys._getframe(1), running_task()
        given = kwargs.get("context") if contexts.has_read else None

        def start() -> Any:
            return original(self, coro, **kwargs)

        if given is not None:
            context = contexts.given_in(given)
            work = _work_of(coro, context, caller, contexts)
            with suppress(RuntimeError):
                # It may be the present one.
                given.run(contexts.enter_work, work)
            made = start()
            if work is not None:
                work.is_task(made)
            return made
        if begun is None:
            if not contexts.serves_nobody() or _is_part(caller, lambda each: each is task):
                return start()
            # A request of no test has started it. It may take the jobs of tests.
            return contexts.copied(None).run(start)
        if _waits(coro):
            return _started(start, begun, coro, caller, contexts)
        if task is not None and begun.is_handled_by(task):
            made = _started(start, begun, coro, caller, contexts)
            if _is_part(caller, begun.is_handled_by):
                begun.add_part(made)
            return made
        context = _context_of(task, caller, contexts)
        return _started(
            lambda: contexts.copied(context, begun).run(start), context, coro, caller, contexts
        )

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
    work = _work_of(coro, context, caller, contexts)
    if work is None:
        return start()
    before = contexts.enter_work(work)
    try:
        made = start()
    finally:
        contexts.enter_work(before)
    work.is_task(made)
    return made


def _work_of(
    coro: Any, context: TestContext | None, caller: FrameType, contexts: TestContexts
) -> Work | None:
    """Return the work that a task is which is started now; ``None`` if it has no context."""
    work = _begun_elsewhere.pop(coro, None)
    if work is None or work.context is not context:
        task = running_task()
        is_part = task is None and _goes_on(caller)
        work = contexts.starts(context, caller, is_part=is_part)
        if work is not None and work.is_doubtful and task is not None:
            work.was_joined = work.was_joined or _is_group_of(caller, task)
    return work


def _goes_on(caller: FrameType) -> bool:
    """Return whether a task is all that the code does which starts it, as ``asyncio.run`` does."""
    frame: FrameType | None = caller
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == "asyncio.runners" or frame.f_code.co_name == "run_until_complete":
            return True
        if frame.f_code.co_filename == _CALLED:
            # The loop calls ``create_task`` itself, or a portal of anyio does.
            return True
        if module.partition(".")[0] not in {"anyio", "asyncio"}:
            return False
        frame = frame.f_back
    return False


def _is_group_of(caller: FrameType, task: Any) -> bool:
    """Return whether a task is started by a group that another one has opened, which waits."""
    owner = caller.f_locals.get("self") if caller.f_code.co_name in _STARTING else None
    module = str(caller.f_globals.get("__name__", ""))
    if module == "asyncio.taskgroups":
        return getattr(owner, "_parent_task", None) is task
    if module == "asyncio.tasks" and caller.f_code.co_name == "create_task":
        # That of anyio calls it.
        return caller.f_back is not None and _is_group_of(caller.f_back, task)
    if module == "anyio._backends._asyncio":
        return getattr(getattr(owner, "cancel_scope", None), "_host_task", None) is task
    return False


def _waits(coro: Any) -> bool:
    """Return whether a coroutine only waits for something, and works for nobody."""
    code = getattr(coro, "cr_code", None)
    return code is not None and code.co_filename.startswith(_WAITING)


def _context_of(task: Any, caller: FrameType, contexts: TestContexts) -> TestContext | None:
    """Return the context of a task that is started by what a request has started.

    :param task: that runs.
    :param caller: the code that starts the other one.
    """
    context = contexts.running(gives=True)
    begin = None if task is None else begin_of_task(task)
    if context is None or begin is None or contexts.has_taken():
        return context
    is_over = context.closed_at is not None
    is_for_all = is_for_everyone(
        caller, lambda each: each is begin, is_over=is_over, is_own_too=True
    )
    return None if is_for_all else context


def _is_part(caller: FrameType, handles: Callable[[Any], bool]) -> bool:
    """Return whether a task is started by a framework, or by what waits for it.

    :param caller: the code that starts it.
    :param handles: tells the tasks that handle the request.
    """
    frame: FrameType | None = caller
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == "asyncio.taskgroups":
            return handles(frame.f_locals["self"]._parent_task)
        if module == "anyio._backends._asyncio":
            scope = getattr(frame.f_locals.get("self"), "cancel_scope", None)
            return handles(getattr(scope, "_host_task", None))
        if module != "asyncio.tasks":
            return module.partition(".")[0] in FRAMEWORKS
        if frame.f_code.co_name in _JOINING:
            return True
        frame = frame.f_back
    return False


def change_anyio_threads(module: ModuleType, contexts: TestContexts) -> None:
    """Note what work a function is that anyio runs in a thread while its caller waits."""
    backend: Any = module.__dict__["AsyncIOBackend"]
    original = backend.run_sync_in_worker_thread.__func__

    @wraps(original)
    async def run_sync_in_worker_thread(cls: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        context = contexts.running(gives=True) if contexts.has_read else None
        work = contexts.starts(context, sys._getframe(1))

        def begun(*args: Any) -> Any:
            end = contexts.begin_job(work)
            try:
                return func(*args)
            finally:
                end()

        if work is None:
            return await original(cls, func, *args, **kwargs)
        work.was_joined = True
        return await original(cls, begun, *args, **kwargs)

    backend.run_sync_in_worker_thread = classmethod(run_sync_in_worker_thread)
