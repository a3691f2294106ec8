"""Changes the queues of :mod:`queue`, whose consumers are threads."""

from __future__ import annotations

import sys
from functools import wraps

from trafficmock_preload.background.queue_contexts import PutContexts, take_in_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts

_POOLS = ("concurrent.futures.thread", "multiprocessing.pool")


def change_queues(module: ModuleType, contexts: TestContexts) -> None:
    """Change ``queue.Queue``, whose consumers are threads."""
    queue, stack, empty = (module.__dict__[name] for name in ("Queue", "LifoQueue", "Empty"))
    put, get = queue.put, queue.get

    @wraps(put)
    def changed_put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> Any:
        if not contexts.has_read or isinstance(self, stack):
            return put(self, item, block, timeout)
        # A consumer may take it before ``put`` returns.
        PutContexts.of(self).remember(self, self._qsize(), item, contexts)
        try:
            return put(self, item, block, timeout)
        except BaseException:
            PutContexts.of(self).forget(item)
            raise

    @wraps(get)
    def changed_get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        try:
            item = get(self, block, timeout)
        except empty:
            contexts.find_nothing(self)
            raise
        if contexts.has_read and not isinstance(self, stack):
            take_in_thread(self, item, sys._getframe(1), contexts, waits=block)
        return item

    queue.put, queue.get = changed_put, changed_get
    if "SimpleQueue" in module.__dict__:
        _change_simple_queues(module, contexts)


def _change_simple_queues(module: ModuleType, contexts: TestContexts) -> None:
    """Put a class that does the same in the place of ``queue.SimpleQueue``, which is one of C.

    Pools get the original: their jobs have contexts of their own.
    """
    original: Any = module.__dict__["SimpleQueue"]
    empty = module.__dict__["Empty"]

    class SimpleQueue(original):  # type: ignore[misc]
        __doc__ = original.__doc__

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_globals.get("__name__") in _POOLS:
                return original(*args, **kwargs)
            return original.__new__(cls, *args, **kwargs)

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            if contexts.has_read:
                PutContexts.of(self).remember(self, self.qsize(), item, contexts)
            original.put(self, item, block, timeout)

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            try:
                item = original.get(self, block, timeout)
            except empty:
                contexts.find_nothing(self)
                raise
            if contexts.has_read:
                take_in_thread(self, item, sys._getframe(1), contexts, waits=block)
            return item

        def put_nowait(self, item: Any) -> None:
            self.put(item, False)

        def get_nowait(self) -> Any:
            return self.get(False)

    SimpleQueue.__module__, SimpleQueue.__qualname__ = original.__module__, original.__qualname__
    module.__dict__["SimpleQueue"] = SimpleQueue
