"""Passes the context of a test on to jobs of pools of processes.

A worker of such a pool is forked by the request that needs it first, and has that one's context. So
each job takes its own to the worker.
"""

from __future__ import annotations

import sys
from functools import wraps

from trafficmock_preload.current_context import ConsumerContext, TestContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType
    from typing import Any

    from trafficmock_preload.background.job_chains import Work
    from trafficmock_preload.current_context import TestContexts

_MARK = "_trafficmock_context"

_contexts: list[TestContexts] = []
"""Those of this process; a worker that is forked has them, too."""


class JobFunction:
    """A function that runs in the context in which it is given, also in another process.

    :param contexts: of the process that gives it.
    :param caller: the code that gives it.
    :ivar work: what it does, in this process; ``None`` without a context.
    :ivar mark: the id of the context, and whether it is forwarded; ``None`` for no context.
    """

    def __init__(self, function: Any, contexts: TestContexts, caller: FrameType) -> None:
        context = contexts.running()
        self.function = function
        self.work = contexts.starts(context, caller)
        if self.work is not None and self.work.is_doubtful and contexts.are_several():
            # In its process nobody sees whether the code that gives it will wait for it.
            context = None
        self.mark = None if context is None else (context.id, context.is_forwarded)

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes to a worker."""
        return {"function": self.function, "mark": self.mark}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, in a worker that was forked."""
        return within(self.function, self.mark, _contexts[-1])(*args, **kwargs)


def within(function: Any, mark: tuple[str, bool] | None, contexts: TestContexts) -> Any:
    """Return a function that runs in the context of a mark, or in none."""
    if mark is None:
        return contexts.within(function, None)
    contexts.has_read = True
    context_id, is_forwarded = mark
    return contexts.within(function, TestContext(context_id, is_forwarded=is_forwarded))


def change_processes(module: ModuleType, contexts: TestContexts) -> None:
    """Begin a process that is forked as a thread is: it may be a consumer of the first request."""
    process: Any = module.__dict__["BaseProcess"]
    original = process._bootstrap

    @wraps(original)
    def begun(self: Any, *args: Any, **kwargs: Any) -> Any:
        context = contexts.running()
        if context is not None:
            contexts.enter(ConsumerContext(context))
        return original(self, *args, **kwargs)

    process._bootstrap = begun


def change_process_executors(module: ModuleType, contexts: TestContexts) -> None:
    """Run each job of a ``ProcessPoolExecutor`` in the context in which it was submitted.

    The context stands beside the function: a worker without the preload does not look at it.
    """
    executor: Any = module.__dict__["ProcessPoolExecutor"]
    item: Any = module.__dict__["_CallItem"]
    submit, made = executor.submit, item.__init__

    @wraps(submit)
    def changed_submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        job = JobFunction(fn, contexts, sys._getframe(1))
        future = submit(self, job, *args, **kwargs)
        if job.work is not None:
            job.work.has_result(future, self)
        return future

    @wraps(made)
    def changed_init(self: Any, work_id: Any, fn: Any, *args: Any, **kwargs: Any) -> None:
        if type(fn) is JobFunction:
            setattr(self, _MARK, fn.mark)
            fn = fn.function
        made(self, work_id, fn, *args, **kwargs)

    def restore(self: Any, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if _MARK in state:
            self.fn = within(self.fn, state[_MARK], contexts)

    executor.submit, item.__init__, item.__setstate__ = changed_submit, changed_init, restore


def set_worker_contexts(contexts: TestContexts) -> None:
    """Say in whose contexts a worker runs what it is given; it is forked later."""
    _contexts[:] = [contexts]


def function_for_pool(
    pool: Any, function: Any, contexts: TestContexts, caller: FrameType
) -> tuple[Any, Work | None]:
    """Return what a ``multiprocessing.Pool`` gets for a function, and what work that is.

    :param caller: the code that gives it.

    Only workers that are forked have a context, and certainly this module.
    """
    if pool._ctx.get_start_method() != "fork":
        return function, None
    job = JobFunction(function, contexts, caller)
    return job, job.work
