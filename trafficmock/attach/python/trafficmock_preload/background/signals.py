"""Lets a loop that several tests wake work for none of them.

Applications make queues by hand: a list, with a condition or an event that says there is something
in it. Nothing says whose it is. So what waits in a loop for a condition, or an event, that code of
another test has signalled is nobody's from then on. A lock and a semaphore hand over nothing.
"""

from __future__ import annotations

import sys
from functools import wraps

from trafficmock_preload.background.code_loops import WHILE
from trafficmock_preload.background.service_loops import (
    begin_of_task,
    begins_thread,
    loops_to,
)
from trafficmock_preload.current_context import TestContext, running_task
from trafficmock_preload.sending_code import APPLICATION, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts

_BY = "_trafficmock_signalled"
_SEVERAL = TestContext("", is_forwarded=False)
"""Stands for the contexts of several tests."""


def change_threading_signals(module: ModuleType, contexts: TestContexts) -> None:
    """Change the conditions and events for which threads wait."""
    for name, signal, waits in _SIGNALS:
        owner: Any = module.__dict__[name]
        _change_signal(owner, signal, contexts)
        for each in waits:
            _change_wait(owner, each, contexts)


def change_asyncio_signals(module: ModuleType, contexts: TestContexts) -> None:
    """Do the same for those of asyncio."""
    for name, signal, waits in _SIGNALS:
        owner: Any = module.__dict__[name]
        _change_signal(owner, signal, contexts)
        for each in waits:
            _change_async_wait(owner, each, contexts)


_SIGNALS = (("Condition", "notify", ("wait", "wait_for")), ("Event", "set", ("wait",)))


def _change_signal(owner: Any, name: str, contexts: TestContexts) -> None:
    original = getattr(owner, name)

    @wraps(original)
    def signal(self: Any, *args: Any) -> Any:
        if contexts.has_read:
            # A queue signals that there is room, before the job that it gave is worked for.
            by = contexts.running(is_use=False)
            if by is not None:
                before = self.__dict__.get(_BY, by)
                self.__dict__[_BY] = by if before is by else _SEVERAL
        return original(self, *args)

    setattr(owner, name, signal)


def _change_wait(owner: Any, name: str, contexts: TestContexts) -> None:
    original = getattr(owner, name)

    @wraps(original)
    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        finally:
            if _BY in self.__dict__:
                _be_woken(self.__dict__[_BY], sys._getframe(1), contexts)

    setattr(owner, name, wait)


def _change_async_wait(owner: Any, name: str, contexts: TestContexts) -> None:
    original = getattr(owner, name)

    @wraps(original)
    async def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await original(self, *args, **kwargs)
        finally:
            if _BY in self.__dict__:
                _be_woken(self.__dict__[_BY], sys._getframe(1), contexts)

    setattr(owner, name, wait)


def _be_woken(by: TestContext, caller: FrameType, contexts: TestContexts) -> None:
    """Note that code goes on which waited for a signal.

    :param by: the context in which it was signalled.
    :param caller: the code.
    """
    begun = contexts.begun()
    if begun is None or begun is by or contexts.has_taken():
        return
    task = running_task()
    if kind_of(caller.f_code.co_filename) != APPLICATION or not contexts.may_take(task):
        return
    begin = None if task is None else begin_of_task(task)
    is_last = begins_thread if task is None else (lambda each: each is begin)
    if loops_to(caller, is_last)[1] >= WHILE:
        contexts.leave()
