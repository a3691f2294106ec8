"""Sends the records that handlers of :mod:`logging` keep in the contexts in which they were logged.

A handler with a buffer gives its records to another one, or sends them in one request, when one
more comes than it keeps: within a request that has nothing to do with the others.
"""

from __future__ import annotations

import weakref
from functools import wraps

from trafficmock_preload.background.kept_jobs import GivenContexts
from trafficmock_preload.current_context import ConsumerContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContext, TestContexts


def change_log_handlers(module: ModuleType, contexts: TestContexts) -> None:
    """Change the handlers and the listener of :mod:`logging.handlers`."""
    kept = KeptRecords(contexts)
    _change_buffers(module.__dict__["BufferingHandler"], kept)
    _change_memory(module.__dict__["MemoryHandler"], kept)
    _change_listener(module.__dict__["QueueListener"], contexts)


class KeptRecords:
    """The contexts of the records in the buffers of handlers."""

    def __init__(self, contexts: TestContexts) -> None:
        self._contexts = contexts
        self._records = GivenContexts()
        self._buffers: weakref.WeakKeyDictionary[Any, TestContext | None] = (
            weakref.WeakKeyDictionary()
        )

    @property
    def is_wanted(self) -> bool:
        """Whether a request with a context has come into this process."""
        return self._contexts.has_read

    def add(self, handler: Any, record: Any) -> None:
        """Note the context in which a record comes into the buffer of a handler."""
        context = self._contexts.running(is_use=False)
        self._records.add(record, context)
        if not handler.buffer:
            self._buffers[handler] = context
        elif self._buffers.get(handler) is not context:
            self._buffers[handler] = None

    def call(self, handler: Any, function: Callable[[], Any]) -> Any:
        """Call a function in the context that all records of a handler have; else in none."""
        return self._call(self._buffers.get(handler), handler, function)

    def handle(self, handler: Any, target: Any, record: Any) -> Any:
        """Give another handler a record in the context in which it was logged."""
        return self._call(self._records.of(record), handler, lambda: target.handle(record))

    def _call(self, context: TestContext | None, handler: Any, function: Callable[[], Any]) -> Any:
        """Call a function as a consumer does that has taken a job from a queue.

        So baggage of OpenTelemetry, which is that of the request that is there, does not count.
        """
        past = self._contexts.begun()
        before = self._contexts.enter(ConsumerContext(context, weakref.ref(handler), past))
        try:
            return function()
        finally:
            self._contexts.enter(before)


class EachRecord:
    """Stands for the handler to which another one gives its records."""

    def __init__(self, kept: KeptRecords, handler: Any, target: Any) -> None:
        self._kept, self._handler, self.target = kept, handler, target

    def handle(self, record: Any) -> Any:
        """Give the handler a record."""
        return self._kept.handle(self._handler, self.target, record)


def _change_buffers(owner: Any, kept: KeptRecords) -> None:
    """Note the context of each record, and send a batch in that of its records.

    A class of the application's that sends a batch by itself overrides ``flush``.
    """
    emit_now = owner.emit

    @wraps(emit_now)
    def emit(self: Any, record: Any) -> Any:
        if not kept.is_wanted:
            return emit_now(self, record)
        kept.add(self, record)
        return kept.call(self, lambda: emit_now(self, record))

    @classmethod  # type: ignore[misc]
    def init_subclass(cls: Any, **kwargs: Any) -> None:
        super(owner, cls).__init_subclass__(**kwargs)
        flush_now = cls.__dict__.get("flush")
        if not callable(flush_now):
            return

        @wraps(flush_now)
        def flush(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not kept.is_wanted:
                return flush_now(self, *args, **kwargs)
            return kept.call(self, lambda: flush_now(self, *args, **kwargs))

        cls.flush = flush

    owner.emit = emit
    owner.__init_subclass__ = init_subclass


def _change_memory(owner: Any, kept: KeptRecords) -> None:
    """Give each record to the target in its own context."""
    flush_now = owner.flush

    @wraps(flush_now)
    def flush(self: Any) -> Any:
        if not kept.is_wanted or not self.target:
            return flush_now(self)
        self.acquire()
        try:
            each = self.target = EachRecord(kept, self, self.target)
            try:
                return flush_now(self)
            finally:
                if self.target is each:
                    self.target = each.target
        finally:
            self.release()

    owner.flush = flush


def _change_listener(owner: Any, contexts: TestContexts) -> None:
    """Let the thread of a listener work for everyone, whoever starts it.

    It has the context of a record that it takes from a queue of this process.
    """
    monitor_now = owner._monitor

    @wraps(monitor_now)
    def monitor(self: Any) -> Any:
        contexts.leave()
        return monitor_now(self)

    owner._monitor = monitor
