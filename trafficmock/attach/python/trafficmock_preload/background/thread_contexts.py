"""Passes the context of a test on to threads, and to jobs of thread pools.

Only the context of the test is passed on, not the whole :class:`contextvars.Context`, because
applications rely on threads that begin with an empty one.
"""

from __future__ import annotations

import sys
from functools import wraps

from trafficmock_preload.background.job_chains import work_of
from trafficmock_preload.background.job_waits import (
    change_ends,
    change_waits,
    change_waits_for_several,
)
from trafficmock_preload.background.process_contexts import function_for_pool, set_worker_contexts
from trafficmock_preload.background.signals import change_threading_signals
from trafficmock_preload.current_context import ConsumerContext
from trafficmock_preload.sending_code import STARTED, start_of_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any

    from trafficmock_preload.background.job_chains import Work
    from trafficmock_preload.current_context import TestContexts


def change_threads(module: ModuleType, contexts: TestContexts) -> None:
    """Change threads, and what they wait for."""
    change_threading(module, contexts)
    change_threading_signals(module, contexts)


def change_threading(module: ModuleType, contexts: TestContexts) -> None:
    """Run each thread in the context in which it was started.

    A timer that another timer starts, after the request, works for the whole application.
    """
    thread_class: Any = module.__dict__["Thread"]
    timer_class, current = module.__dict__["Timer"], module.__dict__["current_thread"]
    original = thread_class.start

    def start(self: Any) -> None:
        context = contexts.running(gives=True)
        if (
            context is not None
            and context.closed_at is not None
            and not context.is_own
            and isinstance(self, timer_class)
            and isinstance(current(), timer_class)
        ):
            context = None
        if context is not None:
            run = self.run
            work: Any = contexts.starts(context, sys._getframe(1))
            work.has_result(self)

            def begun() -> None:
                # Without the replacement, the thread's attribute "run" is the original again.
                self.__dict__.pop("run", None)
                contexts.enter(ConsumerContext(context))
                end = contexts.begin_job(work)
                try:
                    run()
                finally:
                    end()

            self.run = begun
        else:
            setattr(self, STARTED, start_of_thread())
        original(self)

    thread_class.start = start
    change_waits(thread_class, ["join"], contexts)


def change_executors(module: ModuleType, contexts: TestContexts) -> None:
    """Run each job of a pool in the context in which it was submitted, or in none."""
    executor: Any = module.__dict__["ThreadPoolExecutor"]
    original = executor.submit

    def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        job, work = contexts.job(fn, sys._getframe(1))
        future = original(self, job, *args, **kwargs)
        if work is not None:
            work.has_result(future, self)
        return future

    executor.submit = submit
    change_ends(executor, contexts)


def change_futures(module: ModuleType, contexts: TestContexts) -> None:
    """Call what is to be called when a job is done in the context in which it was given."""
    future: Any = module.__dict__["Future"]
    original = future.add_done_callback

    @wraps(original)
    def add_done_callback(self: Any, fn: Any) -> None:
        context = contexts.running(gives=True)
        work = contexts.starts(context, sys._getframe(1))
        original(self, contexts.within(fn, context, work, ends=True))

    future.add_done_callback = add_done_callback
    change_waits(future, ["result", "exception"], contexts)
    change_waits_for_several(module, contexts)


def change_wrapped_futures(module: ModuleType, contexts: TestContexts) -> None:
    """Let the future of asyncio that stands for one of a job be that of the job, too."""
    original = module.__dict__["wrap_future"]

    @wraps(original)
    def wrap_future(future: Any, **kwargs: Any) -> Any:
        made = original(future, **kwargs)
        work = work_of(future)
        if work is not None and made is not future:
            work.has_result(made)
        return made

    module.__dict__["wrap_future"] = wrap_future


def change_multiprocessing_pools(module: ModuleType, contexts: TestContexts) -> None:
    """Do the same for pools of :mod:`multiprocessing`, and for the callbacks of their jobs."""

    def in_thread(_: Any, function: Any, caller: FrameType) -> tuple[Any, Work | None]:
        return contexts.job(function, caller)

    def in_process(pool: Any, function: Any, caller: FrameType) -> tuple[Any, Work | None]:
        return function_for_pool(pool, function, contexts, caller)

    set_worker_contexts(contexts)
    change_waits(module.__dict__["ApplyResult"], ["wait"], contexts)
    change_waits(module.__dict__["IMapIterator"], ["next", "__next__"], contexts)
    # The class of pools of threads is derived from the other one, which is changed after it.
    _change_pool(module.__dict__["ThreadPool"], in_thread, contexts)
    _change_pool(module.__dict__["Pool"], in_process, contexts)


def _change_pool(
    pool: Any,
    given: Callable[[Any, Any, FrameType], tuple[Any, Work | None]],
    contexts: TestContexts,
) -> None:
    """Change the methods of a class by which a pool gets jobs.

    :param given: returns what a pool gets for the function of a job, and what work that is.
    """

    def change(name: str, callbacks: int) -> None:
        original = getattr(pool, name)

        @wraps(original)
        def changed(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
            def within(at: int | str, value: Any) -> Any:
                is_callback = at in _CALLBACKS if isinstance(at, str) else at >= callbacks
                return called_back(value) if value and is_callback else value

            def called_back(function: Any) -> Any:
                context = contexts.running(gives=True)
                return contexts.within(function, context, contexts.starts(context, None), ends=True)

            job, work = given(self, func, sys._getframe(1))
            positional = [within(at, value) for at, value in enumerate(args)]
            named = {each: within(each, value) for each, value in kwargs.items()}
            result = original(self, job, *positional, **named)
            if work is not None:
                work.has_result(result, self)
            return result

        setattr(pool, name, changed)

    # Where callbacks begin among the arguments after the function.
    change("apply_async", 2)
    change("_map_async", 3)
    change("imap", 2)
    change("imap_unordered", 2)


_CALLBACKS = ("callback", "error_callback")


def change_twisted_pools(module: ModuleType, contexts: TestContexts) -> None:
    """Do the same for Twisted's thread pools."""
    pool: Any = module.__dict__["ThreadPool"]
    original = pool.callInThreadWithCallback

    def callInThreadWithCallback(self: Any, onResult: Any, func: Any, *args: Any, **kw: Any) -> Any:  # noqa: N803 - Twisted's names
        caller = sys._getframe(1)
        job, work = contexts.job(func, caller)
        if work is not None and caller.f_code.co_name == "deferToThreadPool":
            # Its Deferred has the result.
            work.has_result(caller.f_locals["d"])
        return original(self, onResult, job, *args, **kw)

    pool.callInThreadWithCallback = callInThreadWithCallback
