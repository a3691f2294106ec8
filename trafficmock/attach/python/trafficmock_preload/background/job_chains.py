"""Tells work that may go on for the requests of others from what a request does itself.

A job that starts the job of the next item, which another test's request has put into a list, hands
on the context of the request that began it. Nothing says whose the item is. So what a request
starts itself is its own, and what such work starts in turn is *doubtful*: while contexts of several
tests are there, it is its request's only as long as whoever has started it waits for it
(:mod:`.joins`). Code that runs where no known work does, such as in a task that nothing of asyncio
has started, is nobody's then.
"""

from __future__ import annotations

import weakref
from _thread import get_ident

from trafficmock_preload.background.awaited_names import is_awaited, is_promised
from trafficmock_preload.background.joins import is_joined, waited_later
from trafficmock_preload.sending_code import APPLICATION, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

OF_RESULT = "_trafficmock_work"
"""The attribute of a future, task or Deferred: the work whose result it has."""

REQUEST, FIRST, LATER = 0, 1, 2
"""What work is: that of the request itself, what this has started, and what that has."""

_MOST_FRAMES = 16
"""The frames that are looked at for who starts something, and where."""

_MOST_LINKS = 8
"""The works before one that are looked at."""

FRAMEWORKS = frozenset(
    {"aiohttp", "asgiref", "channels", "daphne", "django", "fastapi", "hypercorn", "litestar"}
    | {"quart", "sanic", "starlette", "tornado", "uvicorn"}
)
"""Libraries that handle a request, or a part of it, in tasks and threads of their own."""

_STANDARD = frozenset({"asyncio", "concurrent", "multiprocessing"})
"""Libraries whose coroutines wait for what they start, and whose functions return it."""

_COROUTINE = 0x80 | 0x100 | 0x200
"""The flags of coroutines, and of asynchronous generators (``inspect.CO_COROUTINE``)."""

_RUNTIME = frozenset({"anyio", "asyncio", "concurrent", "contextlib", "trafficmock_preload"})
"""Libraries that start what others give them."""


_OF_ALL = (
    *("is_lost", "is_promised", "is_queued", "number"),
    *("place", "pool", "result", "was_joined"),
)
"""What is the same for all works of a function that is called several times."""


class Work:
    """A job, a thread, a task or a callback of a request; or what the request does itself.

    :param context: the :class:`.TestContext` of the request.
    :param kind: ``REQUEST``, ``FIRST`` or ``LATER``.
    :param starter: the work that has started it, if it is doubtful.
    :ivar place: where it was started, if it is doubtful: by the code of that and of its callers.
    :ivar number: how many doubtful works its starter had started before.
    :ivar result: a weak reference to the future, thread or task by which it is waited for.
    :ivar pool: a weak reference to the pool whose end waits for it.
    :ivar task: a weak reference to the task that it is.
    :ivar where: the task that it runs in, as a weak reference, or the thread; ``None`` before.
    :ivar was_joined: whether its starter is sure to wait for it, or has begun to.
    :ivar is_promised: whether the code of its starter will wait for it, if it comes so far.
    :ivar is_lost: whether nobody can wait for it any more.
    :ivar is_queued: whether it, or a work before it, was taken from a queue.
    :ivar has_paused: whether its thread has waited until it was known whether it is waited for.
    """

    __slots__ = (
        "_has_begun",
        "_has_ended",
        "_started",
        "_starter",
        "_waited",
        "_waited_pools",
        "context",
        "has_paused",
        "is_lost",
        "is_promised",
        "is_queued",
        "kind",
        "number",
        "place",
        "pool",
        "result",
        "task",
        "was_joined",
        "where",
    )

    def __init__(self, context: Any, kind: int = REQUEST, starter: Work | None = None) -> None:
        self.context = context
        self.kind = kind
        self._starter = starter
        self._has_begun = self._has_ended = False
        self.was_joined = self.is_lost = self.is_queued = self.has_paused = False
        self.is_promised = False
        self.place: tuple[Any, ...] = ()
        self.number = self._started = 0
        self._waited: dict[Any, tuple[int, int]] | None = None
        self._waited_pools: weakref.WeakSet[Any] | None = None
        self.result: Any = None
        self.pool: Any = None
        self.task: Any = None
        self.where: Any = None

    @property
    def is_doubtful(self) -> bool:
        """Whether it is its request's only while its starter waits for it."""
        return self.kind == LATER

    @property
    def is_over(self) -> bool:
        """Whether it has come to its end."""
        if self.task is None:
            return self._has_ended
        task = self.task()
        return task is None or bool(task.done())

    def is_here(self, task: Any) -> bool:
        """Return whether the code that runs now is its own.

        :param task: of asyncio, that runs; ``None`` if none does.
        """
        if self.where is None:
            return True
        return not self._has_ended and bool(self.where == _where(task))

    def begin(self, task: Any = None) -> Work:
        """Return this work, or one like it if it has begun already: it begins here.

        :param task: of asyncio, that runs; ``None`` if none does.
        """
        work = self
        if self._has_begun:
            # Each item of what a pool maps.
            work = Work(self.context, self.kind, self._starter)
            for name in _OF_ALL:
                setattr(work, name, getattr(self, name))
        work._has_begun = True
        work.where = _where(task)
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
            self.pool = None if pool is None else weakref.ref(pool)

    def end(self) -> None:
        """Note that it has come to its end."""
        self._has_ended = True

    def starts(self, caller: FrameType | None, *, is_known: bool = True) -> Work:
        """Return a work that this one starts.

        :param caller: the code that starts it; ``None`` if that is not known.
        :param is_known: whether it is this work that does.
        """
        if not is_known:
            made = Work(self.context, LATER)
            made.is_lost = True
            return made
        if _is_of_framework(caller):
            return self.part()
        made = Work(self.context, FIRST if self.kind == REQUEST else LATER)
        made.is_queued = self.is_queued
        if made.kind == FIRST:
            return made
        made.is_lost = self._can_be_lost()
        if not made.is_lost:
            made._starter, made.place = self, _place(caller)
            made.is_promised = _is_promised(caller)
            self._started = made.number = self._started + 1
        return made

    def part(self) -> Work:
        """Return a work by which this one goes on elsewhere, and for which it waits."""
        made = Work(self.context, self.kind, self if self.is_doubtful else None)
        made.was_joined, made.is_queued = True, self.is_queued
        return made

    def puts(self) -> Work:
        """Return what is done with an item that this work puts in a queue."""
        made = Work(self.context, min(self.kind, FIRST))
        made.is_queued = True
        return made

    def is_task(self, task: Any) -> None:
        """Note that it is a task of asyncio."""
        self.has_result(task)
        self.task = self.where = weakref.ref(task)

    def wait_for(self, result: Any, caller: FrameType | None = None) -> None:
        """Note that this work waits for a future or a thread, and will wait for others.

        Of those that a loop has started by then, the first one is waited for first.

        :param caller: the code that waits; ``None`` if it says all that it waits for.
        """
        other = work_of(result)
        if other is None or other._starter is not self or other.was_joined:
            return
        other.was_joined = True
        if self._waited is None:
            self._waited = {}
        self._waited[other.place] = other.number, self._started
        if self._started > 1 and caller is not None:
            for each in waited_later(caller, result):
                other = work_of(each)
                if other is not None and other._starter is self:
                    other.was_joined = True

    def wait_for_pool(self, pool: Any) -> None:
        """Note that this work waits for the end of a pool."""
        if self._waited_pools is None:
            self._waited_pools = weakref.WeakSet()
        self._waited_pools.add(pool)

    def waits_for(self, work: Work) -> bool:
        """Return whether this work waits for one that it has started."""
        if self._waited is not None and work.place in self._waited:
            first, last = self._waited[work.place]
            if first <= work.number <= last:
                return True
        pool = None if work.pool is None else work.pool()
        return pool is not None and self._waited_pools is not None and pool in self._waited_pools

    def _can_be_lost(self) -> bool:
        """Return whether nobody can wait any more for this work, or for one before it."""
        work: Work | None = self
        for _ in range(_MOST_LINKS):
            if work is None or not work.is_doubtful:
                return False
            starter = work._starter
            if not work.was_joined and (starter is None or starter.is_over):
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
            if not work.was_joined:
                if starter is None or starter.is_over:
                    return False
                if not (work.is_promised or is_joined(work, starter, pauses)):
                    return False
                work.was_joined = True
            work = starter
        return True


def work_of(result: Any) -> Work | None:
    """Return the work whose result a future, task, thread or Deferred has; ``None`` for none.

    The attributes of any other object are not asked for: they may be code of the application, such
    as a call of a mock, or of a remote procedure.
    """
    try:
        found = object.__getattribute__(result, OF_RESULT)
    except AttributeError:
        return None
    return found if type(found) is Work else None


def _where(task: Any) -> Any:
    return get_ident() if task is None else weakref.ref(task)


def _is_of_framework(frame: FrameType | None) -> bool:
    """Return whether it is a framework that starts something: a part of its request.

    What the application starts by a function of the framework, as ``add_callback`` of Tornado and
    ``add_background_task`` of Quart, is a part only if that is waited for.
    """
    called: FrameType | None = None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if top in FRAMEWORKS:
            called = frame
        elif top not in _RUNTIME:
            break
        frame = frame.f_back
    if called is None:
        return False
    is_application = frame is not None and kind_of(frame.f_code.co_filename) == APPLICATION
    return frame is None or not is_application or _waits(called) or is_awaited(frame)


def _is_promised(frame: FrameType | None) -> bool:
    """Return whether the code that starts something will wait for it."""
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _STANDARD:
            return is_promised(frame)
        if frame.f_code.co_flags & _COROUTINE:
            # Such as ``to_thread``.
            return True
        frame = frame.f_back
    return False


def _waits(called: FrameType) -> bool:
    """Return whether a function of a framework waits for what it starts.

    A coroutine does, and so do asgiref and what frameworks have for tests.
    """
    module = str(called.f_globals.get("__name__", ""))
    return (
        bool(called.f_code.co_flags & _COROUTINE)
        or module.startswith("asgiref")
        or (".test" in module)
    )


def _place(frame: FrameType | None) -> tuple[Any, ...]:
    """Return what the place where something is started is known by."""
    found = []
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)
