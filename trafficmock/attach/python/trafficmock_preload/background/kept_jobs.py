"""Runs jobs that libraries keep, and start later, in the contexts in which they were given.

Such a job starts when another one ends, or when the loop of a scheduler finds that it is due: in a
context that has nothing to do with it. A batch has one only if all of its items have the same.
"""

from __future__ import annotations

import sys
import weakref
from functools import wraps

from trafficmock_preload.current_context import ConsumerContext, running_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.background.job_chains import Work
    from trafficmock_preload.current_context import TestContexts

_ONCE = "DateTrigger"
"""The trigger of a job of APScheduler that runs once; others run for everyone."""


class GivenContexts:
    """The contexts, or the works, in which objects were given to a library, while they live.

    They are known by their ids: not all of them have a hash.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}

    def add(self, given: Any, by: Any) -> None:
        """Add an object, if it can say when it goes."""
        if not type(given).__weakrefoffset__:
            return
        key = id(given)
        gone = weakref.ref(given, lambda _: self._known.pop(key, None))
        self._known[key] = (gone, by)

    def of(self, given: Any) -> Any:
        """Return the context, or the work, of an object; ``None`` if it is not known."""
        known = self._known.get(id(given))
        return None if known is None or known[0]() is not given else known[1]


_given = GivenContexts()


def change_apscheduler_jobs(module: ModuleType, contexts: TestContexts) -> None:
    """Remember the context in which a job of APScheduler 3 is added."""
    _remember(module.__dict__["Job"], "__init__", lambda job, _: job, contexts)


def change_apscheduler_executors(module: ModuleType, contexts: TestContexts) -> None:
    """Hand each job of APScheduler to its executor in its context, or in none.

    A job that a store has read from a database has none.
    """
    executor: Any = module.__dict__["BaseExecutor"]
    original = executor.submit_job

    @wraps(original)
    def submit_job(self: Any, job: Any, run_times: Any) -> Any:
        is_once = type(job.trigger).__name__ == _ONCE
        work = _given.of(job) if is_once else None
        return _within(original, work, contexts)(self, job, run_times)

    executor.submit_job = submit_job


def change_aiojobs(module: ModuleType, contexts: TestContexts) -> None:
    """Start each job of aiojobs in the context in which it was spawned."""
    job: Any = module.__dict__["Job"]
    _remember(job, "__init__", lambda job, _: job, contexts)
    original = job._start

    @wraps(original)
    def start(self: Any) -> Any:
        return _within(original, _given.of(self), contexts)(self)

    job._start = start


def change_sched(module: ModuleType, contexts: TestContexts) -> None:
    """Call what a scheduler of :mod:`sched` has been given in the context in which it was."""
    scheduler: Any = module.__dict__["scheduler"]
    original = scheduler.enterabs

    @wraps(original)
    def enterabs(self: Any, time: Any, priority: Any, action: Any, *args: Any, **kw: Any) -> Any:
        if contexts.has_read:
            context = contexts.running(gives=True)
            work = contexts.starts(context, sys._getframe(1))
            action = wraps(action)(contexts.within(action, context, work, ends=True))
        return original(self, time, priority, action, *args, **kw)

    scheduler.enterabs = enterabs


def change_strawberry_loaders(module: ModuleType, contexts: TestContexts) -> None:
    """Load a batch of Strawberry's ``DataLoader`` in the context of its items."""
    _remember(module.__dict__["Batch"], "add_task", lambda _, args: args[1], contexts)
    original = module.__dict__["dispatch_batch"]

    @wraps(original)
    async def dispatch_batch(loader: Any, batch: Any) -> Any:
        _enter_batch((task.future for task in batch.tasks), contexts)
        return await original(loader, batch)

    module.__dict__["dispatch_batch"] = dispatch_batch


def change_aiodataloader(module: ModuleType, contexts: TestContexts) -> None:
    """Do the same for aiodataloader."""
    _remember(module.__dict__["DataLoader"], "do_resolve_reject", lambda _, args: args[1], contexts)
    original = module.__dict__["dispatch_queue_batch"]

    @wraps(original)
    async def dispatch_queue_batch(loader: Any, queue: Any) -> Any:
        _enter_batch((each.future for each in queue), contexts)
        return await original(loader, queue)

    module.__dict__["dispatch_queue_batch"] = dispatch_queue_batch


def change_promise_loaders(module: ModuleType, contexts: TestContexts) -> None:
    """Do the same for the library ``promise``, on which Graphene 2 stands."""
    _remember(module.__dict__["DataLoader"], "do_resolve_reject", lambda _, args: args[1], contexts)
    original = module.__dict__["dispatch_queue_batch"]

    @wraps(original)
    def dispatch_queue_batch(loader: Any, queue: Any) -> Any:
        work = _of_batch(each.resolve for each in queue)
        return _within(original, work, contexts)(loader, queue)

    module.__dict__["dispatch_queue_batch"] = dispatch_queue_batch


def _remember(
    owner: Any, name: str, key: Callable[[Any, tuple[Any, ...]], Any], contexts: TestContexts
) -> None:
    """Remember the context in which a method is called.

    :param key: returns what the context is remembered for, from the object and the arguments.
    """
    original = getattr(owner, name)

    @wraps(original)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if contexts.has_read:
            _given.add(key(self, args), contexts.part())
        return original(self, *args, **kwargs)

    setattr(owner, name, called)


def _within(function: Any, work: Work | None, contexts: TestContexts) -> Any:
    """Return a function that is called for work that has given something; ``None`` for none."""
    return contexts.within(function, None if work is None else work.context, work)


def _enter_batch(items: Iterable[Any], contexts: TestContexts) -> None:
    """Let this task work for the items of a batch."""
    work = _of_batch(items)
    contexts.enter(None if work is None else work.context)
    contexts.enter_work(None if work is None else work.begin(running_task()))


def _of_batch(items: Iterable[Any]) -> Work | None:
    """Return the work that has given the items of a batch; ``None`` if they are of several."""
    found = {None if work is None else work.context: work for work in map(_given.of, items)}
    return found.popitem()[1] if len(found) == 1 else None


def change_finalizers(module: ModuleType, contexts: TestContexts) -> None:
    """Call what ``weakref.finalize`` keeps for nobody, but where the application calls it.

    It runs wherever the last reference goes, or the garbage collector happens to begin.
    """
    owner: Any = module.__dict__["finalize"]
    original = owner.__call__

    @wraps(original)
    def call(self: Any, _: Any = None) -> Any:
        past = None if _ is None else contexts.begun()
        if past is None:
            return original(self, _)
        before = contexts.enter(ConsumerContext(None, past=past))
        try:
            return original(self, _)
        finally:
            contexts.enter(before)

    owner.__call__ = call
