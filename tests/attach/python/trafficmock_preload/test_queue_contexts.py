"""Jobs of queues within the process: the context of whoever put them, or none."""

from __future__ import annotations

import asyncio
import asyncio.queues
import asyncio.tasks
import contextlib
import queue
import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any
from unittest import skipIf

import anyio.streams.memory
from trafficmock_preload.background import (
    event_loops,
    queue_contexts,
    signals,
    task_queues,
    thread_queues,
)
from trafficmock_preload.background.thread_contexts import change_threading
from trafficmock_preload.current_context import TestContexts
from twisted.trial.unittest import SynchronousTestCase

SECONDS = 10


def copied(module: Any, *names: str) -> Any:
    """Give a module with classes of its own, which stand for those of another one."""
    made = ModuleType(module.__name__)
    made.__dict__.update(vars(module))
    for name in names:
        original = getattr(module, name)
        made.__dict__[name] = original
        if not issubclass(original, BaseException):
            made.__dict__[name] = type(name, (original,), {})
    return made


def attached_loop(contexts: TestContexts) -> Any:
    """Return a class of loops as they are in an attached process."""
    module = ModuleType("loops")
    loop = module.__dict__["Loop"] = type("Loop", (asyncio.SelectorEventLoop,), {})
    event_loops.change_loops(module, contexts, "Loop", "call_at")
    return loop


class Work:
    """A job; in its own context it is done."""


class QueueCase(SynchronousTestCase):
    """Notes the context in which jobs are done."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        self.seen: list[str | None] = []
        threads = copied(threading, "Thread")
        change_threading(threads, self.contexts)
        self.thread: Any = threads.Thread
        before = self.contexts.enter(None)
        self.addCleanup(self.contexts.enter, before)
        self.known = {
            name: self.contexts.read(f"trafficmock.test={name}", None, None) for name in "ab"
        }

    def enter(self, name: str | None) -> None:
        self.contexts.enter(None if name is None else self.known[name])

    def note(self) -> None:
        found = self.contexts.current()
        self.seen.append(None if found is None else found.id)


class ThreadTests(QueueCase):
    """Threads that take jobs from ``queue.Queue``."""

    def setUp(self) -> None:
        super().setUp()
        module = copied(queue, "Queue", "LifoQueue", "SimpleQueue", "Empty")
        thread_queues.change_queues(module, self.contexts)
        self.queue: Any = self.with_signals(module.Queue())
        self.simple: Any = module.SimpleQueue
        self.stack: Any = type("Stack", (module.LifoQueue, module.Queue), {})()

    def with_signals(self, made: Any) -> Any:
        """Give a queue the conditions of an attached process."""
        threads = copied(threading, "Condition", "Event")
        signals.change_threading_signals(threads, self.contexts)
        made.not_empty = threads.Condition(made.mutex)
        made.not_full = threads.Condition(made.mutex)
        return made

    def run_in(self, name: str | None, work: Callable[[], Any]) -> None:
        """Run a function in a thread that a request starts, or that is started at import."""
        self.enter(name)
        thread = self.thread(target=work)
        thread.start()
        thread.join(SECONDS)
        self.assertFalse(thread.is_alive())

    def put(self, *names: str | None) -> None:
        """Put jobs of these requests, and what ends the consumer."""
        for name in names:
            self.enter(name)
            self.queue.put(Work())
        self.enter(None)
        self.queue.put(None)

    def consume(self) -> None:
        while self.queue.get() is not None:
            self.note()

    def test_consumer(self) -> None:
        """A job has the context of whoever put it, whoever started the consumer."""
        for starter in (None, "a", "b"):
            self.seen.clear()
            self.put("b", None, "a", "a")
            self.run_in(starter, self.consume)
            self.assertEqual(self.seen, ["b", None, "a", "a"], starter)

    def test_shapes(self) -> None:
        """So it is in other loops, in a method that another one calls, and with a timeout."""

        def iterate() -> None:
            for _ in iter(self.queue.get, None):
                self.note()

        def step() -> bool:
            if self.queue.get(timeout=SECONDS) is None:
                return False
            self.note()
            return True

        def steps() -> None:
            while step():
                pass

        for work in (iterate, steps):
            self.seen.clear()
            self.put("b", "a")
            self.run_in("a", work)
            self.assertEqual(self.seen, ["b", "a"], work)

    def test_deep(self) -> None:
        """A ``while`` takes jobs however deep; a ``for`` there may be for anything: nobody's."""

        def take() -> Any:
            return dequeue()

        def dequeue() -> Any:
            return self.queue.get()

        def step() -> bool:
            found = take()
            if found is not None:
                self.note()
            return found is not None

        def run() -> None:
            while step():
                pass

        def count() -> None:
            for _ in range(3):
                step()

        for work, expected in ((run, ["b", None, "a"]), (count, [None, None, None])):
            self.seen.clear()
            self.put("b", None, "a")
            self.run_in("a", work)
            self.queue = type(self.queue)()
            self.assertEqual(self.seen, expected, work)

    def test_job_of_pool(self) -> None:
        """A job of a pool may be a consumer, too."""
        self.put("b", "a")
        self.enter("a")
        job = self.contexts.job(self.consume, None)[0]
        self.enter(None)
        job()
        self.assertEqual(self.seen, ["b", "a"])

    def test_simple(self) -> None:
        """So it is with a ``SimpleQueue``, but for those of pools, which are the original."""
        self.queue = self.simple()
        self.put("b", None, "a")
        self.run_in("a", self.consume)
        self.assertEqual(self.seen, ["b", None, "a"])
        self.queue.put_nowait(1)
        self.assertEqual(self.queue.get_nowait(), 1)
        self.assertRaises(queue.Empty, self.queue.get_nowait)
        self.assertIsInstance(self.queue, queue.SimpleQueue)
        names = {"__name__": "concurrent.futures.thread", "make": self.simple}
        exec("made = make()", names)  # noqa: S102 - a module of that name
        self.assertIs(type(names["made"]), self.simple.__base__)

    def test_batch(self) -> None:
        """Jobs that are taken before any is done are nobody's if they are of several tests."""

        def batches() -> None:
            while True:
                batch = [self.queue.get(), self.queue.get_nowait()]
                if batch[0] is None:
                    return
                self.note()

        for names, expected in ((("a", "b"), None), (("b", "b"), "b"), ((None, "b"), None)):
            self.seen.clear()
            self.put(*names)
            self.queue.put(None)
            self.run_in("a", batches)
            self.assertEqual(self.seen, [expected], names)

    def test_one_item(self) -> None:
        """What a thread waits for once leaves it its context."""

        def wait() -> None:
            self.queue.get()
            self.note()

        self.put("b")
        self.run_in("a", wait)
        self.assertEqual(self.seen, ["a"])

    def test_request(self) -> None:
        """So does what a thread takes while it handles a request."""

        def handle() -> None:
            for _ in range(2):
                self.contexts.enter(self.contexts.read("trafficmock.test=a", None, None))
                self.queue.get()
                self.note()

        self.put("b", "b")
        self.run_in(None, handle)
        self.assertEqual(self.seen, ["a", "a"])

    def test_pool(self) -> None:
        """What has been put back after it was taken is a resource, and no job."""
        connection = Work()
        self.enter("b")
        self.queue.put(connection)
        self.queue.put(self.queue.get())

        def use() -> None:
            for _ in range(2):
                found = self.queue.get()
                self.note()
                self.queue.put(found)

        self.run_in("a", use)
        self.assertEqual(self.seen, ["a", "a"])

    def test_same_job(self) -> None:
        """A job that is put again after it was done, as a function or a constant is, is no pool."""
        for starter, putter in (("a", "b"), ("b", "a"), ("a", None)):
            self.enter(putter)
            self.queue.put(Work)
            self.put()
            self.run_in(starter, self.consume)
        self.assertEqual(self.seen, ["b", "a", None])

    def test_put_again(self) -> None:
        """Nor is one that is put again because the queue was full."""
        jobs = self.queue = type(self.queue)(1)
        work = Work()
        jobs.put(None)
        self.enter("b")
        for _ in range(2):
            self.assertRaises(queue.Full, jobs.put, work, timeout=0.01)
        jobs.get()
        jobs.put(work)

        def consume() -> None:
            for _ in range(1):
                jobs.get()
                self.note()

        self.run_in("a", consume)
        self.assertEqual(self.seen, ["b"])

    def test_taken_meanwhile(self) -> None:
        """Other threads take items while one is put."""
        puts = queue_contexts.PutContexts.of(self.queue)

        def taken_meanwhile() -> None:
            puts._taken.append(lambda: None)

        puts._taken.append(taken_meanwhile)
        self.put("a")
        self.run_in("b", self.consume)
        self.assertEqual(self.seen, ["a"])

    def test_stack(self) -> None:
        """A ``LifoQueue`` has connections."""
        self.enter("b")
        self.stack.put(Work())

        def use() -> None:
            for _ in range(1):
                self.stack.get()
                self.note()

        self.run_in("a", use)
        self.assertEqual(self.seen, ["a"])

    def test_first_without_waiting(self) -> None:
        """Who does not wait may look for a resource: it is nobody's then, if not its own."""

        def poll() -> None:
            for _ in range(1):
                self.queue.get_nowait()
                self.note()

        for putter, expected in (("b", None), ("a", "a")):
            self.enter(putter)
            self.queue.put(Work())
            self.run_in("a", poll)
            self.assertEqual(self.seen.pop(), expected)

    def test_second_queue(self) -> None:
        """What a consumer takes from another queue is nobody's, or of the same test."""
        other = type(self.queue)()

        def consume() -> None:
            while self.queue.get() is not None:
                self.note()
                other.get()
                self.note()

        for reply, expected in (("b", None), ("a", "a")):
            self.enter(reply)
            other.put(Work())
            self.put("a")
            self.run_in(None, consume)
            self.assertEqual(self.seen, ["a", expected])
            self.seen.clear()

    def test_idle(self) -> None:
        """What a consumer does while it finds no job is nobody's."""

        def consume() -> None:
            while True:
                try:
                    self.queue.get(timeout=0.01)
                except queue.Empty:
                    self.note()
                    return
                self.note()

        self.enter("a")
        self.queue.put(Work())
        self.run_in("a", consume)
        self.assertEqual(self.seen, ["a", None])

    def test_one_object(self) -> None:
        """One object that several tests have put is nobody's."""
        for name in ("a", "b"):
            self.enter(name)
            self.queue.put(1)
        self.put()
        self.run_in("a", self.consume)
        self.assertEqual(self.seen, [None, None])

    def test_full(self) -> None:
        """What did not get in has no context, and items that were cleared away are forgotten."""
        small = type(self.queue)(1)
        small.put(Work())
        self.assertRaises(queue.Full, small.put, Work(), block=False)
        puts = queue_contexts.PutContexts.of(small)
        self.assertEqual(len(puts._of_items), 1)
        for _ in range(200):
            small.queue.clear()
            small.put(Work())
        self.assertLess(len(puts._of_items), 100)


class TaskTests(QueueCase):
    """Tasks that take jobs from ``asyncio.Queue``."""

    def setUp(self) -> None:
        super().setUp()
        module = copied(asyncio.queues, "Queue", "LifoQueue", "QueueEmpty")
        task_queues.change_asyncio_queues(module, self.contexts)
        self.kind: Any = module.Queue
        waits = copied(asyncio.tasks)
        task_queues.change_wait_for(waits, self.contexts)
        self.wait_for: Any = waits.wait_for
        names = ("MemoryObjectSendStream", "MemoryObjectReceiveStream")
        streams = copied(anyio.streams.memory, *names)
        task_queues.change_anyio_streams(streams, self.contexts)
        self.streams: Any = [getattr(streams, name) for name in names]
        self.patch(asyncio.events, "new_event_loop", attached_loop(self.contexts))

    async def request(self, name: str | None, work: Callable[[], Any]) -> Any:
        """Handle a request in a task of its own."""

        async def handle() -> Any:
            baggage = None if name is None else f"trafficmock.test={name}"
            self.contexts.enter(self.contexts.read(baggage, None, None))
            return work()

        return await asyncio.create_task(handle())

    def check(self, starter: str | None, names: list[str | None], consume: Any) -> None:
        """Start a consumer in a request, and put jobs in others."""

        async def main() -> None:
            jobs = self.kind()
            task = await self.request(starter, lambda: asyncio.create_task(consume(jobs)))
            for name in names:
                await self.request(name, lambda: jobs.put_nowait(Work()))
            await self.request(None, lambda: jobs.put_nowait(None))
            await asyncio.wait_for(task, SECONDS)

        asyncio.run(main())

    def test_consumer(self) -> None:
        """A job is its putter's, whoever's request has started the consumer."""

        async def consume(jobs: Any) -> None:
            while await jobs.get() is not None:
                self.note()

        for starter in (None, "a", "b"):
            self.seen.clear()
            self.check(starter, ["b", None, "a"], consume)
            self.assertEqual(self.seen, ["b", None, "a"], starter)

    def test_part(self) -> None:
        """What a request of no test waits for takes no job for it."""

        async def main() -> None:
            jobs = self.kind()

            async def take() -> None:
                while await jobs.get() is not None:
                    self.note()

            async def handle() -> None:
                self.contexts.enter(None)
                await asyncio.gather(take())

            task = asyncio.create_task(handle())
            await self.request("b", lambda: jobs.put_nowait(Work()))
            await self.request(None, lambda: jobs.put_nowait(None))
            await asyncio.wait_for(task, SECONDS)

        asyncio.run(main())
        self.assertEqual(self.seen, [None])

    def test_dispatcher(self) -> None:
        """A task that is started for a job is use of the job: the next one is no batch."""

        async def work() -> None:
            self.note()

        async def consume(jobs: Any) -> None:
            while await jobs.get() is not None:
                asyncio.get_running_loop().create_task(work())
            await asyncio.sleep(0)

        self.check("a", ["b", None, "a"], consume)
        self.assertEqual(self.seen, ["b", None, "a"])

    def test_wait_for(self) -> None:
        """So it is with ``wait_for(queue.get(), …)``, and nobody's is what is done in vain."""

        async def consume(jobs: Any) -> None:
            job: Any = Work
            while job is not None:
                job = await self.wait_for(jobs.get(), SECONDS)
                self.note()
            with contextlib.suppress(asyncio.TimeoutError):
                await self.wait_for(jobs.get(), 0.01)
            self.note()

        self.check("a", ["b", None, "a"], consume)
        self.assertEqual(self.seen, ["b", None, "a", None, None])

    def test_anyio(self) -> None:
        """So it is with a stream of anyio, also of one that is full."""

        async def consume(receiving: Any) -> None:
            async for _ in receiving:
                self.note()

        async def main(size: int) -> None:
            send, receive = self.streams
            state = anyio.streams.memory._MemoryObjectStreamState[Any](size)
            sending = send(_state=state)
            receiving = receive(_state=state)
            task = await self.request("a", lambda: asyncio.create_task(consume(receiving)))
            puts = [
                await self.request(name, lambda: asyncio.create_task(sending.send(Work())))
                for name in ("b", None, "a", "b")
            ]
            await asyncio.gather(*puts)
            sending.close()
            await asyncio.wait_for(task, SECONDS)
            receiving.close()
            self.assertLess(len(queue_contexts.PutContexts.of(state)._of_items), 1)

        for size in (0, 1, 10):
            asyncio.run(main(size))
            self.assertEqual(self.seen, ["b", None, "a", "b"], size)
            self.seen.clear()

    def test_batch(self) -> None:
        """A batch of several tests is nobody's."""

        async def consume(jobs: Any) -> None:
            for _ in range(2):
                await jobs.get()
            self.note()

        self.check("a", ["a", "b"], consume)
        self.assertEqual(self.seen, [None])

    def test_request(self) -> None:
        """What a request itself waits for leaves it its context."""

        async def main() -> None:
            jobs = self.kind()

            async def handle(name: str) -> None:
                self.contexts.enter(self.contexts.read(f"trafficmock.test={name}", None, None))
                for _ in range(1):
                    await jobs.get()
                    self.note()

            task = asyncio.create_task(handle("a"))
            await self.request("b", lambda: jobs.put_nowait(Work()))
            await task

        asyncio.run(main())
        self.assertEqual(self.seen, ["a"])

    @skipIf(sys.version_info < (3, 11), "asyncio.timeout came with Python 3.11")
    def test_timeout(self) -> None:
        """A consumer that has waited in vain works for nobody."""

        async def consume(jobs: Any) -> None:
            for seconds in (SECONDS, 0.01):
                try:
                    async with asyncio.timeout(seconds):
                        await jobs.get()
                except TimeoutError:
                    pass
                self.note()

        async def main() -> None:
            jobs = self.kind()
            await self.request("b", lambda: jobs.put_nowait(Work()))
            await (await self.request("a", lambda: asyncio.create_task(consume(jobs))))

        asyncio.run(main())
        self.assertEqual(self.seen, ["b", None])


class TimerTests(QueueCase):
    """Timers of the loops of asyncio."""

    name, method = "BaseEventLoop", "call_at"

    def loop_class(self) -> Any:
        return asyncio.SelectorEventLoop

    def run_in_loop(self, main: Callable[[], Any]) -> None:
        module = ModuleType("loops")
        made = module.__dict__[self.name] = type(self.name, (self.loop_class(),), {})
        event_loops.change_loops(module, self.contexts, self.name, self.method)
        loop: Any = made()
        self.addCleanup(loop.close)
        loop.run_until_complete(asyncio.wait_for(main(), SECONDS))

    def test_timers(self) -> None:
        """A timer, which may be for several requests, is nobody's; the code after it is not."""

        async def main() -> None:
            loop, done = asyncio.get_running_loop(), asyncio.Event()
            self.contexts.enter(self.contexts.read("trafficmock.test=a", None, None))

            def flush() -> None:
                self.note()
                done.set()

            for begin in (
                lambda: loop.call_later(0, flush),
                lambda: loop.call_later(0.001, flush),
                lambda: loop.call_at(loop.time(), flush),
            ):
                done.clear()
                begin()
                await done.wait()
                self.note()

        self.run_in_loop(main)
        self.assertEqual(self.seen, [None, "a"] * 3)

    def test_given_context(self) -> None:
        """A context of Python's that the application gives is left alone."""

        async def main() -> None:
            loop, done = asyncio.get_running_loop(), asyncio.Event()
            self.enter("a")
            given = copy_context()
            self.enter("b")

            def flush() -> None:
                self.note()
                done.set()

            loop.call_later(0, flush, context=given)
            await done.wait()

        self.run_in_loop(main)
        self.assertEqual(self.seen, ["a"])

    def test_waiting(self) -> None:
        """A task that sleeps, or waits with a limit, has its own context then."""

        async def handle(name: str) -> None:
            self.contexts.enter(self.contexts.read(f"trafficmock.test={name}", None, None))
            await asyncio.sleep(0.001)
            self.note()
            try:
                await asyncio.wait_for(asyncio.Event().wait(), 0.001)
            except TimeoutError:
                self.note()
            await asyncio.wait_for(asyncio.sleep(0.001), SECONDS)
            self.note()
            asyncio.get_running_loop().call_soon(self.note)
            await asyncio.sleep(0)

        async def main() -> None:
            for name in "ab":
                await asyncio.create_task(handle(name))

        self.run_in_loop(main)
        self.assertEqual(self.seen, [*"aaaa", *"bbbb"])


@skipIf(find_spec("uvloop") is None, "uvloop is not installed")
class UvloopTests(TimerTests):
    """Timers of the loop of uvloop."""

    name, method = "Loop", "call_later"

    def loop_class(self) -> Any:
        return import_module("uvloop").Loop
