"""The context of the code that runs now: that of the inbound request which caused it."""

from __future__ import annotations

import sys
import weakref
from _thread import get_ident
from collections import OrderedDict
from contextvars import Context, ContextVar, copy_context
from time import monotonic, time

from trafficmock_preload.background.job_chains import Work, work_of
from trafficmock_preload.entries.context_reading import MEMBER, carried, trace_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

HEADER = "Trafficmock-Context"
"""The header with the context, for the proxy alone; its value is empty without a context."""

_MOST_KNOWN = 1000
_ASKED_SECONDS = 30.0
"""How long it is told where requests without a context come from, after it was asked for."""


class TestContext:
    """The context of an inbound request, or of a test that runs in this process.

    :param is_forwarded: whether outgoing requests get it as baggage. The id of a trace does not:
        the application's own tracing forwards it.
    :param request: the method and the path of the inbound request.
    :param is_own: whether its test runs in this process.
    :ivar came_at: epoch seconds.
    :ivar task: a weak reference to the task of asyncio that handles the request; ``None`` if none.
    :ivar thread: the thread that handles it.
    """

    __slots__ = (
        "_running",
        "_work",
        "came_at",
        "closed_at",
        "id",
        "is_forwarded",
        "is_own",
        "parts",
        "request",
        "task",
        "thread",
    )

    def __init__(
        self,
        context_id: str,
        *,
        is_forwarded: bool,
        request: tuple[Any, Any] | None = None,
        is_own: bool = False,
    ) -> None:
        self.id = context_id
        self.request = request
        self.came_at = time()
        self.is_forwarded = is_forwarded
        self.is_own = is_own
        self.closed_at: float | None = None
        task = running_task()
        self.task = None if task is None else weakref.ref(task)
        self.thread = get_ident()
        self.parts: weakref.WeakSet[Any] | None = None
        self._work: Work | None = None
        self._running = _running_thread()

    def own_work(self) -> Work:
        """Return what the request itself does (:mod:`.background.job_chains`)."""
        if self._work is None:
            self._work = Work(self)
            self._work.where = self.thread if self.task is None else self.task
        return self._work

    def is_handled_by(self, task: Any) -> bool:
        """Return whether a task of asyncio handles the request, or a part of it."""
        if self.task is not None and self.task() is task:
            return True
        return self.parts is not None and task in self.parts

    def is_in_thread(self) -> bool:
        """Return whether this is the thread that handles the request, not one with its number."""
        return self.thread == get_ident() and self._running == _running_thread()

    def add_part(self, task: Any) -> None:
        """Add a task to which the code that handles the request has given a part of it."""
        if self.parts is None:
            self.parts = weakref.WeakSet()
        self.parts.add(task)

    @property
    def inbound(self) -> tuple[Any, Any, float]:
        """The method, the path and the time of the request, to be shown."""
        return (*(self.request or ("", "")), self.came_at)


class ConsumerContext:
    """The context of a consumer of a queue: that of the job that it has taken.

    A thread begins with one that is of no queue yet, the context of whoever started the thread.

    :param queue: a weak reference to the queue.
    :param past: the context in which code was begun that works for everyone now.
    :ivar is_used: whether a request, or other work, has been begun in it.
    """

    __slots__ = ("context", "is_used", "past", "queue")

    def __init__(
        self, context: TestContext | None, queue: Any = None, past: TestContext | None = None
    ) -> None:
        self.context = context
        self.queue = queue
        self.past = past
        self.is_used = False


def _running_thread() -> Any:
    """Return a weak reference to this thread; ``None`` if Python has not started it."""
    threading = sys.modules.get("threading")
    found = None if threading is None else threading._active.get(get_ident())
    return None if found is None else weakref.ref(found)


def running_task() -> Any:
    """Return the task of asyncio that runs in this thread; ``None`` if none does."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return None
    try:
        # ``current_task`` raises an error in each thread without a loop, which takes microseconds.
        loop = asyncio._get_running_loop()
        return None if loop is None else asyncio.current_task(loop)
    except AttributeError:
        # It is being imported.
        return None


class TestContexts:
    """The contexts of this process.

    :param lasting: seconds that a context counts after the end of its inbound request.
    :param is_on: whether contexts are read (``TRAFFICMOCK_CONTEXT``).
    :param now: returns monotonic seconds.
    :ivar seen: is called with each context that comes in with a request.
    :ivar has_entries: whether this process has a server, or a framework, whose requests are read.
    :ivar has_read: whether a request with a context has come in.
    :ivar latest: the context that came in last with a request.
    """

    def __init__(
        self, lasting: float, *, is_on: bool = True, now: Callable[[], float] = monotonic
    ) -> None:
        self.is_on = is_on
        self._lasting = lasting
        self._now = now
        self._variable: ContextVar[TestContext | ConsumerContext | None] = ContextVar(
            "trafficmock",
            default=ConsumerContext(None),  # noqa: B039 - it is of no thread yet
        )
        self._work: ContextVar[Work | None] = ContextVar("trafficmock work", default=None)
        self._jobs: dict[int, Work] = {}
        self.has_entries = False
        self.has_read = False
        self.seen: Callable[[str], None] = _nothing
        self.latest: TestContext | None = None
        self._known: OrderedDict[str, TestContext] = OrderedDict()
        self._asked_until = 0.0
        self.do_tests_run: Callable[[], bool] = bool
        self._own_tests = 0
        self._were_wanted = False

    def read(
        self,
        baggage: str | None,
        cookie: str | None,
        traceparent: str | None,
        request: tuple[Any, Any] | None = None,
    ) -> TestContext | None:
        """Read the context of an inbound request from its headers; ``None`` for none.

        A test client calls the application in its own thread or task, often without headers: such
        a request has the context of the test that runs there.

        :param request: the method and the path of the request, to be shown.
        """
        if not self.is_on:
            return None
        found, running = carried(baggage, cookie), self.running()
        if found is None and running is not None and running.is_own:
            self.seen(running.id)
            return running
        trace = None if found else trace_id(traceparent)
        if found is None and trace is None:
            return None
        context = TestContext(found or trace or "", is_forwarded=found is not None, request=request)
        self.has_read = True
        if request is not None:
            self.latest = context
            if context.is_forwarded:
                self.ask_origins(wanted=True)
                self.seen(context.id)
        self._known[context.id] = context
        self._known.move_to_end(context.id)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return context

    def enter(
        self, context: TestContext | ConsumerContext | None
    ) -> TestContext | ConsumerContext | None:
        """Set the context of the code that runs from now on in this thread or task.

        :returns: what was set before, to be entered again.
        """
        before = self._variable.get()
        self._variable.set(context)
        return before

    def close(self, context: TestContext | None) -> None:
        """Mark the inbound request of a context as over; a test of this process has not ended."""
        if context is not None and context.closed_at is None and not context.is_own:
            context.closed_at = self._now()

    def begin_test(self, context_id: str) -> Callable[[], None]:
        """Set the context of a test that runs in this thread or task.

        :returns: ends the test; it is called in the same thread or task.
        """
        context = TestContext(context_id, is_forwarded=True, is_own=True)
        self._known[context_id] = context
        self.has_read = True
        self._own_tests += 1
        before = self.enter(context)

        def end() -> None:
            self._own_tests -= 1
            context.closed_at = self._now()
            self.enter(before)

        return end

    def begun(self) -> TestContext | None:
        """Return the context in which this code was begun, whether it works for that or not."""
        found = self._variable.get()
        if type(found) is ConsumerContext:
            return found.context or found.past
        return found  # type: ignore[return-value]

    def serves_nobody(self) -> bool:
        """Return whether this code handles a request without a context."""
        return self._variable.get() is None

    def leave(self) -> None:
        """Let this code work for everyone from now on."""
        self._variable.set(ConsumerContext(None, past=self.begun()))

    def running(
        self, *, is_use: bool = True, gives: bool = False, sends: bool = False
    ) -> TestContext | None:
        """Return the context of this code, whether its inbound request is over or not.

        A loop that works for everyone has none (:mod:`.background.service_loops`), but for that of
        the job that it has taken.

        :param is_use: whether a job that this code has taken is worked for.
        :param gives: whether it is for a job whose :class:`.Work` shares the doubt about this one.
        :param sends: whether it is for a request: then a thread may wait a moment for who vouches.
        """
        found = self._variable.get()
        begun: ConsumerContext | None = None
        context: Any = found
        if type(found) is ConsumerContext:
            found.is_used = found.is_used or is_use
            begun, context = found, found.context
            if found.queue is not None:
                return found.context
        if context is None or (
            self._is_vouched(context, gives=gives, sends=sends)
            and self._is_own_work(context, begun)
        ):
            return context  # type: ignore[no-any-return]
        return None

    def _is_vouched(self, context: TestContext, *, gives: bool, sends: bool) -> bool:
        """Return whether this code is no work that may go on for another test."""
        work, is_known = self._present(context)
        if is_known and (not work.is_doubtful or (gives and not work.is_lost)):
            return True
        return not self.are_several() or (is_known and work.is_vouched(pauses=sends))

    def _present(self, context: TestContext) -> tuple[Work, bool]:
        """Return the work that this code does for a context, and whether it is sure to be that.

        Code in a copy of a context of Python's, which something unknown has started, is not.
        """
        work, task = self._work.get(), running_task()
        if work is not None and work.context is context and work.is_here(task):
            return work, True
        work = self._jobs.get(get_ident()) if task is None else work_of(task)
        if work is not None and work.context is context:
            return work, True
        work = context.own_work()
        return work, work.is_here(task) and (task is not None or context.is_in_thread())

    def are_several(self) -> bool:
        """Return whether contexts of several tests count now."""
        alive = 0
        for context in reversed([*self._known.values()]):
            alive += self._counts(context)
            if alive > 1:
                return True
        return False

    def starts(
        self,
        context: TestContext | None,
        caller: FrameType | None,
        given: Context | None = None,
        *,
        is_part: bool = False,
    ) -> Work | None:
        """Return the work that is started by code that runs for a context; ``None`` for none.

        :param caller: the code that starts it; ``None`` if that is not known.
        :param given: the context of Python's in which it was given, if that was before.
        :param is_part: whether that code waits in place.
        """
        if context is None:
            return None
        if given is None:
            by, is_known = self._present(context)
        else:
            found = given.get(self._work)
            is_of = found is not None and found.context is context
            by, is_known = found if is_of else context.own_work(), True  # type: ignore[assignment]
        return by.part() if is_part and is_known else by.starts(caller, is_known=is_known)

    def called_back(
        self, context: TestContext, caller: FrameType | None, result: Any
    ) -> Work | None:
        """Return the work that is done with a result, when that is there.

        :param caller: the code that gives the function for it; ``None`` if it goes on by that.
        """
        is_part = work_of(result) is None or caller is None
        return self.starts(context, caller, is_part=is_part)

    def given_in(self, given: Context) -> TestContext | None:
        """Return the context of a request in a context of Python's; ``None`` for none."""
        found = given.get(self._variable)
        if type(found) is ConsumerContext:
            return None if found.queue is not None else found.context
        return found  # type: ignore[return-value]

    def part(self) -> Work | None:
        """Return a work that goes on for this code elsewhere; ``None`` without a context."""
        context = self.running()
        return None if context is None else self._present(context)[0].part()

    def puts(self) -> Work | None:
        """Return the work for an item that this code puts in a queue; ``None`` for none."""
        context = self.running()
        if context is None:
            return None
        work, _ = self._present(context)
        # Nobody waits for an item that work puts which was taken from a queue itself.
        return None if work.is_queued and self.are_several() else work.puts()

    def callback(
        self, function: Any, args: tuple[Any, ...], caller: FrameType, given: Context | None
    ) -> Any:
        """Return what a loop of asyncio calls for a function.

        :param args: with which it is called.
        :param caller: the code that gives it to the loop.
        :param given: the context of Python's in which it is called; ``None`` for the present one.
        """
        found = self.given_in(copy_context() if given is None else given)
        if found is None:
            return function
        # A callback of a future was given before, and its caller is any code.
        is_of_future = bool(args) and hasattr(type(args[0]), "_asyncio_future_blocking")
        work: Any = self.starts(
            found, None if is_of_future else caller, given if is_of_future else None
        )

        def begun(*args: Any) -> Any:
            before = self.enter_work(work.begin())
            try:
                return function(*args)
            finally:
                self.enter_work(before)
                work.end()

        # By this asyncio shows it.
        begun.__wrapped__ = function  # type: ignore[attr-defined]
        return begun

    def waiting(self) -> Work | None:
        """Return the work that begins to wait for something; ``None`` for none."""
        context = self.given_in(copy_context())
        return None if context is None else self._present(context)[0]

    def enter_work(self, work: Work | None) -> Work | None:
        """Set the work that runs from now on in this thread or task; return what was set before."""
        before = self._work.get()
        self._work.set(work)
        return before

    def _is_own_work(self, context: TestContext, begun: ConsumerContext | None) -> bool:
        """Return whether code works for the request in whose context it was begun.

        :param begun: what its thread or job began with, if it is one that the request has begun.
        """
        task = running_task()
        if task is not None:
            if context.is_handled_by(task):
                return True
        elif begun is None and get_ident() == context.thread:
            return True
        from trafficmock_preload.background import service_loops

        return not service_loops.runs_for_everyone(
            task, is_over=context.closed_at is not None, is_begun=begun is not None
        )

    def may_take(self, task: Any = None) -> bool:
        """Return whether this code may be a consumer of a queue: it handles no request itself.

        :param task: the task that runs.
        """
        found = self._variable.get()
        if type(found) is ConsumerContext:
            return True
        if task is None or found is None:
            return False
        return found.task is not None and not found.is_handled_by(task)  # type: ignore[union-attr]

    def receive(self) -> None:
        """Let this code, which has received a message, work for everyone; not if it is a request.

        What its own request waits for is the request's.
        """
        found = self._variable.get()
        if found is not None and not self.has_taken() and self.may_take(running_task()):
            self.leave()

    def takes_from(self, queue: Any) -> bool:
        """Return whether this code has taken the job that it works for from a queue."""
        found = self._variable.get()
        return type(found) is ConsumerContext and found.queue is not None and found.queue() is queue

    def take(
        self, work: Work | None, queue: Any, *, waits: bool = True, is_job: bool = True
    ) -> None:
        """Set the context of a consumer that has taken a job from a queue.

        It is nobody's where it cannot be told whose the consumer's work is: when jobs of several
        tests are taken before any of them has been worked for (a batch), and when a consumer takes
        from a second queue while the first one is there. The first job counts only if the consumer
        waits for it: others look for a resource that is free.

        :param work: that of the job; ``None`` if it has no context.
        :param waits: whether the consumer waits for jobs.
        :param is_job: whether it is known that this code takes jobs.
        """
        before = self._variable.get()
        put_in = None if work is None else work.context
        source: Any = weakref.ref(queue)
        is_known = waits
        if type(before) is ConsumerContext and before.queue is not None:
            earlier = before.queue()
            is_known = before.is_used and (earlier is queue or earlier is None)
            source = source if earlier is None else before.queue
        is_known = is_known and is_job
        now = before.context if type(before) is ConsumerContext else before
        # The queue vouches for it.
        self._work.set(None if work is None else work.begin(running_task()))
        self._variable.set(ConsumerContext(put_in if is_known or now is put_in else None, source))

    def find_nothing(self, queue: Any) -> None:
        """Set no context if a consumer has worked for its job, and the queue has no other one."""
        found = self._variable.get()
        if type(found) is ConsumerContext and found.is_used and self.takes_from(queue):
            self._variable.set(ConsumerContext(None, found.queue))

    def has_taken(self) -> bool:
        """Return whether this code works for a job that it has taken from a queue."""
        found = self._variable.get()
        return type(found) is ConsumerContext and found.queue is not None

    def copied(self, context: TestContext | None, past: TestContext | None = None) -> Context:
        """Return a copy of the context of Python's, with a context of a test or with none.

        :param past: the context in which code was begun that works for everyone.
        """
        copied = copy_context()
        entered = ConsumerContext(None, past=past) if context is None else context
        copied.run(self._variable.set, entered)
        return copied

    def within(
        self,
        function: Callable[..., Any],
        context: TestContext | None,
        work: Work | None = None,
        *,
        ends: bool = False,
    ) -> Callable[..., Any]:
        """Return a function that calls another one in a context, and has its result.

        :param work: what it does; ``None`` for what the request itself does.
        :param ends: whether the work is over then.
        """

        def begun(*args: Any, **kwargs: Any) -> Any:
            begins = None if work is None else work.begin(running_task())
            before, work_before = self.enter(context), self.enter_work(begins)
            try:
                return function(*args, **kwargs)
            finally:
                self.enter(before)
                self.enter_work(work_before)
                if ends and begins is not None:
                    begins.end()

        return begun

    def job(
        self, function: Callable[..., Any], caller: FrameType | None
    ) -> tuple[Callable[..., Any], Work | None]:
        """Return a function that a pool runs in the present context, and what work that is.

        It may be a consumer.

        :param caller: the code that gives it to the pool.
        """

        def begun(*args: Any, **kwargs: Any) -> Any:
            before, work_before = self.enter(ConsumerContext(context)), self._work.get()
            end = self.begin_job(work)
            try:
                return function(*args, **kwargs)
            finally:
                end()
                self.enter(before)
                self.enter_work(work_before)

        context = self.running(gives=True)
        work = self.starts(context, caller)
        return begun, work

    def begin_job(self, work: Work | None) -> Callable[[], None]:
        """Set the work that begins in this thread; the function that is returned ends it."""
        thread = get_ident()
        begun = None if work is None else work.begin()
        self.enter_work(begun)
        before = self._jobs.pop(thread, None)
        if begun is not None:
            self._jobs[thread] = begun

        def end() -> None:
            self._jobs.pop(thread, None)
            if before is not None:
                self._jobs[thread] = before
            if begun is not None:
                begun.end()

        return end

    def current(self) -> TestContext | None:
        """Return the context of a request that is sent now."""
        if not self.is_on:
            return None
        if self.has_taken():
            # A consumer's baggage of OpenTelemetry is that of the request that started it.
            context = self.running(sends=True)
        else:
            context = self.running(sends=True)
            if context is not None or self.begun() is None:
                context = self._traced() or context
        return context if context is None or self._counts(context) else None

    def _counts(self, context: TestContext) -> bool:
        """Return whether a context still counts, after the end of its request."""
        return context.closed_at is None or self._now() - context.closed_at <= self._lasting

    def _traced(self) -> TestContext | None:
        """Return the context in OpenTelemetry's baggage, which follows code that ours does not."""
        baggage = sys.modules.get("opentelemetry.baggage")
        if baggage is None:
            return None
        try:
            return self._known.get(baggage.get_baggage(MEMBER))
        except Exception:
            # The module is being imported, or is of another version.
            return None

    def ask_origins(self, wanted: bool) -> None:
        """Tell from now on where requests without a context come from, or do not.

        The proxy asks for it, while tests with contexts run. That one came in says the same.
        """
        self._asked_until = self._now() + _ASKED_SECONDS if wanted else 0.0

    def are_wanted(self) -> bool:
        """Return whether tests with contexts run, or have run in this process.

        What waits for messages when a test ends may get those of the next one.
        """
        if self.is_on and not self._were_wanted:
            self._were_wanted = self._own_tests > 0 or self.do_tests_run()
        return self._were_wanted

    def _tells_origins(self) -> bool:
        return self._own_tests > 0 or self._now() < self._asked_until

    def outgoing(self) -> list[tuple[str, str]]:
        """Return the header lines to add to a request in a tunnel that the proxy reads."""
        context = self.current()
        if not self.is_on:
            return [(HEADER, "")]
        if context is None and not self._tells_origins():
            return [(HEADER, "")]
        if context is None:
            from trafficmock_preload import sending_code

            past, latest = self.begun(), self.latest
            origin = sending_code.coded(
                None if past is None else past.inbound,
                None if latest is None else latest.inbound,
                is_loop=past is not None and self._counts(past),
            )
            return [(HEADER, ""), (sending_code.HEADER, origin)]
        lines = [(HEADER, context.id)]
        if context.is_forwarded:
            lines.append(("baggage", f"{MEMBER}={context.id}"))
        return lines


def _nothing(context_id: str) -> None:
    """Tell nobody of a context."""
