"""Passes the context of a test on to greenlets of gevent and eventlet, and to their jobs.

A greenlet begins with an empty context of Python's. It gets that of the test alone, as a thread
does.
"""

from __future__ import annotations

import sys
from contextvars import Context
from functools import wraps

from trafficmock_preload.background.queue_contexts import PutContexts, take_in_thread
from trafficmock_preload.current_context import ConsumerContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts


def _begun(contexts: TestContexts) -> Context:
    """Return a context of Python's with which a greenlet begins that this code starts."""
    made = Context()
    context = contexts.running()
    if context is not None:
        made.run(contexts.enter, ConsumerContext(context))
    return made


def change_gevent(module: ModuleType, contexts: TestContexts) -> None:
    """Begin each greenlet of gevent in the context in which it is made.

    A class of its own stands for that of gevent, which is one of C.
    """
    original: Any = module.__dict__["Greenlet"]

    class Greenlet(original):  # type: ignore[misc]
        __doc__ = original.__doc__

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            original.__init__(self, *args, **kwargs)
            if contexts.has_read:
                self.gr_context = _begun(contexts)

        def link(self, callback: Any, *args: Any, **kwargs: Any) -> Any:
            if contexts.has_read and callable(callback):
                callback = LinkedCallback(callback, contexts)
            return original.link(self, callback, *args, **kwargs)

    _stand_for(Greenlet, original)
    module.__dict__["Greenlet"] = Greenlet


class LinkedCallback:
    """What is called at the end of a greenlet, in the context in which it was given.

    It is equal to the function, by which it is taken away again.
    """

    def __init__(self, function: Any, contexts: TestContexts) -> None:
        self._function = function
        self._within = contexts.within(function, contexts.running())

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return self._within(*args)

    def __eq__(self, other: object) -> bool:
        return bool(self._function == getattr(other, "_function", other))

    def __hash__(self) -> int:
        return hash(self._function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def change_gevent_pools(module: ModuleType, contexts: TestContexts) -> None:
    """Run each job of a pool of threads of gevent in the context in which it was given."""
    pool: Any = module.__dict__["ThreadPool"]
    original = pool.spawn

    @wraps(original)
    def spawn(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        return original(self, contexts.job(func, sys._getframe(1))[0], *args, **kwargs)

    pool.spawn = spawn


def change_gevent_groups(module: ModuleType, contexts: TestContexts) -> None:
    """Do the same for what a group of greenlets maps while its results are taken."""
    group: Any = module.__dict__["GroupMappingMixin"]

    def change(name: str) -> None:
        original = getattr(group, name)

        @wraps(original)
        def changed(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
            return original(self, contexts.job(func, sys._getframe(1))[0], *args, **kwargs)

        setattr(group, name, changed)

    change("imap")
    change("imap_unordered")


def change_gevent_queues(module: ModuleType, contexts: TestContexts) -> None:
    """Change gevent's queues, which also stand for those of :mod:`queue`.

    Those for connections (``LifoQueue``) are left alone.
    """
    for name in ("SimpleQueue", "Queue", "PriorityQueue", "JoinableQueue"):
        module.__dict__[name] = _queue(module.__dict__[name], contexts)


def _queue(original: Any, contexts: TestContexts) -> Any:
    """Return a class that does the same as one of gevent's, and remembers who has put what."""
    from queue import Empty

    class Queue(original):  # type: ignore[misc]
        __doc__ = original.__doc__

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> Any:
            if not contexts.has_read:
                return original.put(self, item, block, timeout)
            PutContexts.of(self).remember(self, self.qsize(), item, contexts)
            try:
                return original.put(self, item, block, timeout)
            except BaseException:
                PutContexts.of(self).forget(item)
                raise

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            try:
                item = original.get(self, block, timeout)
            except Empty:
                contexts.find_nothing(self)
                raise
            if contexts.has_read:
                take_in_thread(self, item, sys._getframe(1), contexts, waits=block)
            return item

        def put_nowait(self, item: Any) -> None:
            self.put(item, False)

        def get_nowait(self) -> Any:
            return self.get(False)

    _stand_for(Queue, original)
    return Queue


def change_eventlet_queues(module: ModuleType, contexts: TestContexts) -> None:
    """Change eventlet's queues, but for those for connections."""
    from queue import Empty

    queue, stack = (module.__dict__[name] for name in ("LightQueue", "LifoQueue"))
    put, get = queue.put, queue.get

    @wraps(put)
    def changed_put(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
        if contexts.has_read and not isinstance(self, stack):
            PutContexts.of(self).remember(self, self.qsize(), item, contexts)
        return put(self, item, *args, **kwargs)

    @wraps(get)
    def changed_get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        try:
            item = get(self, block, timeout)
        except Empty:
            contexts.find_nothing(self)
            raise
        if contexts.has_read and not isinstance(self, stack):
            take_in_thread(self, item, sys._getframe(1), contexts, waits=block)
        return item

    queue.put, queue.get = changed_put, changed_get


def _stand_for(made: Any, original: Any) -> None:
    made.__module__, made.__name__ = original.__module__, original.__name__
    made.__qualname__ = original.__qualname__


def change_eventlet(module: ModuleType, contexts: TestContexts) -> None:
    """Do the same for the greenlets of eventlet."""
    thread: Any = module.__dict__["GreenThread"]
    made, link, spawn_n = thread.__init__, thread.link, module.__dict__["_spawn_n"]

    @wraps(made)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        if contexts.has_read:
            self.gr_context = _begun(contexts)

    @wraps(link)
    def linked(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        if contexts.has_read:
            func = LinkedCallback(func, contexts)
        return link(self, func, *args, **kwargs)

    @wraps(spawn_n)
    def spawn(seconds: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        if contexts.has_read:
            func, _ = contexts.job(func, sys._getframe(1))
        return spawn_n(seconds, func, *args, **kwargs)

    thread.__init__, thread.link, module.__dict__["_spawn_n"] = init, linked, spawn
