"""Tells work that starts itself again, and so may go on for requests of others.

A job that starts the job of the next item, which another test's request has put into a list, hands
on the context of the request that began it. Nothing says whose the item is. So each work knows by
which places and functions it and the works before it were started. What is started by one of them
again is *doubtful*: while contexts of several tests are there, it is its request's only as long as
whoever has started it waits for it (:mod:`.joins`). Code of libraries does not count: it starts
anything.
"""

from __future__ import annotations

import weakref
from contextvars import Context
from functools import partial
from types import BuiltinMethodType, CoroutineType, FunctionType, MethodType

from trafficmock_preload.background.joins import is_joined
from trafficmock_preload.sending_code import APPLICATION, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

OF_RESULT = "_trafficmock_work"
"""The attribute of a future, task or Deferred: the work whose result it has."""

_MOST_FRAMES = 16
"""The frames that are looked at for the place in the application that starts something."""

_MOST_LINKS = 8
"""The works before one, or the functions around one, that are looked at."""

_MOST_KEYS = 256
"""The places and functions of one chain: the works after that add none."""

_LOOPS = frozenset(
    {"_bootstrap_inner", "_run", "_run_once", "_worker", "begun", "run", "run_forever"}
    | {"runUntilCurrent", "run_until_complete", "worker"}
)
"""Functions of libraries that call what others have given: what is outside of them starts nothing.
"""


class Work:
    """A job, a thread, a task or a callback of a request; or all that the request does itself.

    :param context: the :class:`.TestContext` of the request.
    :ivar keys: the places and functions by which it and the works before it were started.
    :ivar is_again: whether it was started by one of those of the works before it.
    :ivar is_doubtful: whether that is so of this, or of a work before it.
    :ivar origin: a weak reference to the task in which it was started, if it is doubtful.
    :ivar result: a weak reference to the future, thread or task by which it is waited for.
    :ivar pool: the id of the pool whose end waits for it.
    :ivar task: a weak reference to the task that it is.
    :ivar is_lost: whether nobody can wait for it any more.
    :ivar has_paused: whether its thread has waited until it was known whether it is waited for.
    """

    __slots__ = (
        "_by",
        "_has_begun",
        "_has_ended",
        "_starter",
        "_waited",
        "_was_joined",
        "context",
        "has_paused",
        "is_again",
        "is_doubtful",
        "is_lost",
        "keys",
        "origin",
        "pool",
        "result",
        "task",
    )

    def __init__(self, context: Any, keys: frozenset[Any] = frozenset()) -> None:
        self.context = context
        self.keys = keys
        self._starter: Work | None = None
        self._by: tuple[Any, Any] = (None, None)
        self.is_again = self.is_doubtful = False
        self.is_lost = self._was_joined = self._has_begun = self._has_ended = False
        self._waited: set[Any] = set()
        self.has_paused = False
        self.result: Any = None
        self.pool = 0
        self.origin: Any = None
        self.task: Any = None

    @property
    def is_over(self) -> bool:
        """Whether it has come to its end."""
        if self.task is None:
            return self._has_ended
        task = self.task()
        return task is None or bool(task.done())

    def begin(self) -> Work:
        """Return this work, or one like it if it has begun already: this thread begins it."""
        work = self
        if self._has_begun:
            # Each item of what a pool maps.
            work = Work(self.context, self.keys)
            for name in ("_by", "is_lost", "_starter", "is_again", "is_doubtful", "origin"):
                setattr(work, name, getattr(self, name))
            work.result, work.pool = self.result, self.pool
        work._has_begun = True
        return work

    def has_result(self, result: Any, pool: Any = None) -> None:
        """Note by what it is waited for.

        :param result: a future, a task or a thread.
        :param pool: whose end waits for it.
        """
        try:
            setattr(result, OF_RESULT, self)
        except AttributeError:
            # A generator, over what a pool has mapped.
            return
        if self.is_doubtful:
            self.result = weakref.ref(result)
            self.pool = 0 if pool is None else id(pool)

    def end(self) -> None:
        """Note that it has come to its end."""
        self._has_ended = True

    def starts(self, function: Any, caller: FrameType | None, after: Work | None = None) -> Work:
        """Return a work that this one starts.

        :param function: what it runs, or a coroutine.
        :param caller: the code that starts it; ``None`` if that is not known.
        :param after: the work whose end it waits for, if it is called back.
        """
        key, place = _key(function), _place(caller)
        keys = self.keys if after is None else self.keys | after.keys
        is_again = key in keys or place in keys
        if not is_again and len(keys) < _MOST_KEYS:
            # Of code of libraries it has none. ``None`` is in no set.
            new = [each for each in (key, place) if each is not None]
            keys = keys.union(new)
        made = Work(self.context, keys)
        if is_again or self.is_doubtful:
            made.is_again, made.is_doubtful = is_again, True
            made.is_lost = self._can_be_lost()
            made._starter = None if made.is_lost else self
            made._by = key, place
        return made

    def started_in(self, task: Any) -> None:
        """Note which task of asyncio starts it; ``None`` for none."""
        self.origin = None if task is None else weakref.ref(task)

    def is_task(self, task: Any) -> None:
        """Note that it is a task of asyncio."""
        self.has_result(task)
        self.task = weakref.ref(task)

    def is_beside(self, result: Any) -> bool:
        """Return whether a future, a task or a thread is of work that was started as this one was.

        It is by the same work, at the same place or by the same function.
        """
        other = work_of(result)
        if other is None or other._starter is None or other._starter is not self._starter:
            return False
        return any(one is not None and one == two for one, two in zip(self._by, other._by))

    def wait_for(self, result: Any) -> None:
        """Note that this work waits for a future or a thread, and so for all that it started so."""
        other = work_of(result)
        if other is not None and other._starter is self:
            self._waited.update(other._by)
            self._waited.discard(None)

    def wait_for_pool(self, pool: Any) -> None:
        """Note that this work waits for the end of a pool."""
        self._waited.add(id(pool))

    def waits_for(self, work: Work) -> bool:
        """Return whether this work waits for one that it has started."""
        return work.pool in self._waited or any(each in self._waited for each in work._by)

    def vouch(self) -> None:
        """Note that its starter is sure to wait for it."""
        self._was_joined = True

    def _can_be_lost(self) -> bool:
        """Return whether nobody can wait any more for this work, or for one before it."""
        work: Work | None = self
        for _ in range(_MOST_LINKS):
            if work is None or not work.is_doubtful:
                return False
            starter = work._starter
            if work.is_again and not work._was_joined and (starter is None or starter.is_over):
                work.is_lost = True
            if work.is_lost:
                self.is_lost, self._starter = True, None
                return True
            work = starter
        return False

    def is_vouched(self, *, pauses: bool) -> bool:
        """Return whether its starter waits for it, and so on for the works before it.

        :param pauses: whether this thread may wait a moment until that is known.
        """
        work: Work | None = self
        while work is not None and work.is_doubtful:
            if work.is_lost:
                return False
            starter = work._starter
            if work.is_again and not work._was_joined:
                if starter is None or starter.is_over or not is_joined(work, starter, pauses):
                    return False
                work._was_joined = True
            work = starter
        return True


def copied_context(function: Any) -> Context | None:
    """Return the context of Python's in which ``asyncio.to_thread`` calls a function."""
    if type(function) is not partial:
        return None
    run = function.func
    found = run.__self__ if type(run) is BuiltinMethodType and run.__name__ == "run" else None
    return found if type(found) is Context else None


def work_of(result: Any) -> Work | None:
    """Return the work whose result a future, task, thread or Deferred has; ``None`` for none.

    The attributes of any other object are not asked for, as in :func:`code_of`.
    """
    try:
        found = object.__getattribute__(result, OF_RESULT)
    except AttributeError:
        return None
    return found if type(found) is Work else None


def is_of_application(function: Any) -> bool:
    """Return whether a function, or a coroutine, is of the application."""
    return _key(function) is not None


def _key(function: Any) -> int | None:
    """Return what a function of the application, or a coroutine, is known by; else ``None``."""
    code = code_of(function)
    return id(code) if code is not None and kind_of(code.co_filename) == APPLICATION else None


def code_of(function: Any) -> CodeType | None:
    """Return the code of a function, a coroutine or an object that is called; else ``None``.

    Only what Python itself has made is asked: an attribute of any other object may be code of the
    application, such as a call of a mock, or of a remote procedure.
    """
    for _ in range(_MOST_LINKS):
        kind = type(function)
        if kind is FunctionType:
            return function.__code__  # type: ignore[no-any-return]
        if kind is MethodType:
            function = function.__func__
        elif kind is partial:
            # The function of ``asyncio.to_thread`` is an argument of ``Context.run``.
            is_run = copied_context(function) is not None and function.args
            function = function.args[0] if is_run else function.func
        elif kind is CoroutineType:
            frame = function.cr_frame
            if function.cr_code.co_name != "to_thread" or frame is None:
                return function.cr_code  # type: ignore[no-any-return]
            function = frame.f_locals.get("func")
        else:
            called = (vars(base).get("__call__") for base in kind.__mro__)
            function = next((each for each in called if each is not None), None)
            if type(function) is not FunctionType:
                break
    return None


def _place(frame: FrameType | None) -> tuple[int, int] | None:
    """Return the place in the application that starts something; ``None`` if it does not."""
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if kind_of(code.co_filename) == APPLICATION:
            return id(code), frame.f_lasti
        if code.co_name in _LOOPS:
            break
        frame = frame.f_back
    return None
