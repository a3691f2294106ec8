"""Jobs that start the job of the next item, and jobs for which whoever has started them waits."""

from __future__ import annotations

import asyncio
import gc
import queue
import sched
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, _base
from contextvars import copy_context
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any
from unittest.mock import Mock, call

from trafficmock_preload.background import job_chains, joins
from trafficmock_preload.background.process_contexts import JobFunction
from trafficmock_preload.hooks import OwnProcess
from twisted.trial.unittest import SynchronousTestCase

from tests.attach.python.trafficmock_preload.test_own_process import ENVIRONMENT

SECONDS = 10
LASTING = 30
ITEMS = 5
DEPTH = 3
ENOUGH = 10 * joins._LOOKS


class ChainCase(SynchronousTestCase):
    """A list of items, and jobs that take one each."""

    def setUp(self) -> None:
        process = OwnProcess(ENVIRONMENT)
        self.addCleanup(process.restore)
        self.contexts = process.contexts
        self.now = 0.0
        self.patch(self.contexts, "_now", lambda: self.now)
        self.addCleanup(self.contexts.enter, self.contexts.enter(None))
        self.seen: list[str | None] = []
        self.items: deque[int] = deque()
        self.done = threading.Event()
        self.next: Callable[[], Any] = lambda: None

    def read(self, name: str) -> Any:
        return self.contexts.read(f"trafficmock.test={name}", None, None)

    def note(self) -> None:
        found = self.contexts.current()
        self.seen.append(None if found is None else found.id)

    def take(self, *_: Any) -> None:
        """Do the job of an item."""
        self.items.popleft()
        self.note()

    def go_on(self, *_: Any) -> None:
        """Start the next job."""
        if self.items:
            self.next()
        else:
            self.done.set()

    def work(self, *_: Any) -> None:
        """Do both."""
        self.take()
        self.go_on()

    def check(self, start: Callable[[], Any]) -> None:
        """Work a list off, while one test is there and while two are."""
        self.next = start
        self.assertEqual(self.worked_off(start), ["a"] * ITEMS, start)
        other = self.read("b")
        self.assertEqual(self.worked_off(start), ["a"] + [None] * (ITEMS - 1), start)
        self.contexts.close(other)
        self.now += LASTING + 1

    def worked_off(self, start: Callable[[], Any]) -> list[str | None]:
        self.seen.clear()
        self.done.clear()
        self.items.extend(range(ITEMS))
        self.contexts.enter(self.read("a"))
        start()
        self.assertTrue(self.done.wait(SECONDS))
        self.contexts.enter(None)
        return self.seen


class ThreadTests(ChainCase):
    """Threads and pools."""

    def setUp(self) -> None:
        super().setUp()
        self.executor = ThreadPoolExecutor(2 ** (DEPTH + 2))
        self.addCleanup(self.executor.shutdown)

    def test_as_completed_is_lazy(self) -> None:
        """Jobs that a generator submits begin when the first result is asked for, as without us."""
        begun: list[int] = []
        self.read("b")
        self.contexts.enter(self.read("a"))

        def submitted() -> Iterator[Future[None]]:
            begun.append(1)
            yield self.executor.submit(lambda: None)

        found = _base.as_completed(submitted())
        self.assertEqual(begun, [])
        self.assertEqual(len([*found]), 1)

    def test_chains(self) -> None:
        """What starts itself again is nobody's while there are several tests."""
        self.check(lambda: self.executor.submit(self.work))
        self.check(lambda: self.executor.submit(self.take).add_done_callback(self.go_on))
        self.check(lambda: threading.Thread(target=self.work).start())
        self.check(lambda: threading.Timer(0, self.work).start())
        with ThreadPool(1) as pool:
            self.check(lambda: pool.apply_async(self.work))
            self.check(lambda: pool.apply_async(self.take, (), {}, self.go_on))
            self.check(lambda: pool.map_async(self.take, [1], callback=self.go_on))

    def test_two_steps(self) -> None:
        """So is what functions start that a list has."""

        def in_list() -> None:
            self.executor.submit(made()).add_done_callback(self.go_on)

        def made() -> Callable[[], None]:
            names: dict[str, Any] = {"take": self.take}
            exec("def job(): take()", names)  # noqa: S102
            found: Callable[[], None] = names["job"]
            return found

        self.check(in_list)

    def test_by_turns(self) -> None:
        """So is what two functions start by turns, and what is started in a copied context."""
        other = ThreadPoolExecutor(1)
        self.addCleanup(other.shutdown)
        turns = iter([self.executor, other] * ITEMS * 2)

        def named(name: str) -> Callable[[], None]:
            return partial(Mock(wraps=self.work), name)

        self.check(lambda: next(turns).submit(named("one")))
        self.check(lambda: self.executor.submit(copy_context().run, self.work))
        self.check(lambda: copy_context().run(self.executor.submit, self.work))
        self.check(lambda: threading.Thread(target=copy_context().run, args=(self.work,)).start())

    def test_helper(self) -> None:
        """A helper may start the next job, and one that is waited for."""
        gate = threading.Event()
        self.addCleanup(gate.set)

        def part() -> None:
            gate.wait(0.01)

        def start() -> Any:
            self.executor.submit(self.work)
            next_one = self.executor.submit(part)
            self.executor.submit(part).result()
            return next_one

        self.check(start)

    def test_kept(self) -> None:
        """So is what a scheduler keeps, and a job of a queue that puts the next one there."""
        scheduler = sched.scheduler(delayfunc=lambda _: None)
        jobs: Any = queue.Queue()

        def later() -> None:
            is_first = len(self.items) == ITEMS
            scheduler.enter(0, 1, self.work)
            if is_first:
                threading.Thread(target=scheduler.run).start()

        def consume() -> None:
            while True:
                jobs.get()()

        self.check(later)
        threading.Thread(target=consume, daemon=True).start()
        self.check(lambda: jobs.put(self.work))

    def test_own_work(self) -> None:
        """A job that has started the next one, and works on, does not wait for it."""
        other = ThreadPoolExecutor(1)
        self.addCleanup(other.shutdown)
        kept = []

        def work() -> None:
            self.items.popleft()
            if self.items:
                kept.append(self.executor.submit(work))
            other.submit(self.note).result(SECONDS)
            if len(self.seen) == ITEMS:
                self.done.set()

        self.read("b")
        seen = self.worked_off(lambda: self.executor.submit(work))
        self.assertEqual(sorted(map(str, seen)), ["None"] * (ITEMS - 1) + ["a"])

    def test_processes(self) -> None:
        """What a process gets is nobody's at once."""
        marks: list[Any] = []

        def start() -> None:
            self.items.popleft()
            job = JobFunction(self.note, self.contexts, sys._getframe())
            marks.append(job.mark)
            made: Any = Future()
            if job.work is not None:
                job.work.has_result(made)
            made.add_done_callback(lambda _: self.go_on())
            made.set_result(None)

        self.next = start
        self.read("b")
        self.worked_off(start)
        self.assertEqual(marks, [("a", True), *[None] * (ITEMS - 1)])

    def check_joined(self, start: Callable[[Callable[[int], Any], int], Any]) -> None:
        """Divide and conquer.

        :param start: starts a function for two halves, and waits.
        """

        def solve(depth: int) -> None:
            self.note()
            if depth:
                start(solve, depth - 1)

        self.patch(joins, "_LOOKS", SECONDS / joins._POLL)
        self.read("b")
        self.contexts.enter(self.read("a"))
        self.seen.clear()
        start(solve, DEPTH)
        self.contexts.enter(None)
        self.assertEqual(self.seen, ["a"] * (2 ** (DEPTH + 2) - 2), start)

    def test_joined(self) -> None:
        """A job for which whoever has started it waits keeps the context."""
        executor = self.executor

        def result(solve: Any, depth: int) -> None:
            one, two = executor.submit(solve, depth), executor.submit(solve, depth)
            one.result(SECONDS), two.result(SECONDS)

        def listed(solve: Any, depth: int) -> None:
            for each in [executor.submit(solve, depth) for _ in "12"]:
                each.result(SECONDS)

        def summed(solve: Any, depth: int) -> None:
            sum(
                each.result(SECONDS) is None
                for each in [executor.submit(solve, depth) for _ in "12"]
            )

        def waited(solve: Any, depth: int) -> None:
            _base.wait([executor.submit(solve, depth) for _ in "12"], SECONDS)

        for start in (result, listed, summed, waited):
            self.check_joined(start)

    def test_collected(self) -> None:
        """So does one whose result is taken when it is there, or of a pool that is left."""
        executor = self.executor

        def completed(solve: Any, depth: int) -> None:
            for each in _base.as_completed({executor.submit(solve, depth): 1 for _ in "12"}):
                each.result()

        def mapped(solve: Any, depth: int) -> None:
            list(executor.map(solve, [depth, depth]))

        def left(solve: Any, depth: int) -> None:
            with ThreadPoolExecutor(2) as own:
                own.submit(solve, depth)
                own.submit(solve, depth)

        for start in (completed, mapped, left):
            self.check_joined(start)

    def test_pools(self) -> None:
        """So does a thread, and a job of a ``ThreadPool``."""

        def threads(solve: Any, depth: int) -> None:
            begun = [threading.Thread(target=solve, args=(depth,)) for _ in "12"]
            for each in begun:
                each.start()
            for each in begun:
                each.join(SECONDS)

        def pooled(solve: Any, depth: int) -> None:
            with ThreadPool(2) as pool:
                pool.map(solve, [depth, depth])

        def iterated(solve: Any, depth: int) -> None:
            with ThreadPool(2) as pool:
                list(pool.imap_unordered(solve, [depth, depth]))

        def applied(solve: Any, depth: int) -> None:
            with ThreadPool(2) as pool:
                for each in [pool.apply_async(solve, (depth,)) for _ in "12"]:
                    each.get(SECONDS)

        for start in (threads, pooled, iterated, applied):
            self.check_joined(start)

    def test_promised(self) -> None:
        """A job whose starter asks for its result later keeps it, whatever comes before."""
        self.patch(joins, "_LOOKS", 0)
        self.read("b")
        self.contexts.enter(self.read("a"))

        def job() -> None:
            self.note()
            self.done.set()

        def begin() -> None:
            one = self.executor.submit(job)
            self.done.wait(SECONDS)
            one.result()

        self.executor.submit(begin).result(SECONDS)
        self.assertEqual(self.seen, ["a"])

    def test_stopped_clock(self) -> None:
        """A job for which nobody waits goes on, also where a library has stopped the clock."""
        for name, value in [*vars(joins).items()]:
            if value in (time.monotonic, time.time):
                self.patch(joins, name, lambda: 0.0)
        self.read("b")
        self.contexts.enter(self.read("a"))
        jobs: list[Future[None]] = []
        waited: list[bool] = []

        def begin() -> None:
            jobs.append(self.executor.submit(self.note))
            for _ in range(ENOUGH):
                self.done.wait(0 if jobs[0].done() else joins._POLL)
            waited.append(jobs[0].done())

        self.executor.submit(begin).result(SECONDS)
        self.assertEqual((waited, self.seen), ([True], [None]))


async def pause() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


class TaskTests(ChainCase):
    """Tasks and callbacks of asyncio."""

    def worked_off(self, start: Callable[[], Any]) -> list[str | None]:
        """Do it in a loop, in a request that lasts."""

        async def main() -> None:
            self.finished = asyncio.Event()
            self.loop = asyncio.get_running_loop()
            self.kept: list[Any] = []
            await asyncio.create_task(handle())

        async def handle() -> None:
            self.contexts.enter(self.read("a"))
            start()
            await asyncio.wait_for(self.finished.wait(), SECONDS)

        self.seen.clear()
        self.items.extend(range(ITEMS))
        asyncio.run(main())
        return self.seen

    def go_on(self, *_: Any) -> None:
        if self.items:
            self.next()
        else:
            self.loop.call_soon_threadsafe(self.finished.set)

    async def work_in_task(self) -> None:
        await asyncio.sleep(0)
        self.work()

    def test_chains(self) -> None:
        """What starts itself again is nobody's while there are several tests."""

        def done() -> None:
            task = asyncio.create_task(asyncio.sleep(0))
            self.kept.append(task)
            task.add_done_callback(self.work)

        def of_executor() -> None:
            future = self.loop.run_in_executor(None, self.take)
            future.add_done_callback(self.go_on)

        def in_thread() -> None:
            self.kept.append(asyncio.create_task(asyncio.to_thread(self.work_and_call)))

        self.check(lambda: self.kept.append(asyncio.ensure_future(self.work_in_task())))
        self.check(lambda: self.kept.append(self.loop.create_task(self.work_in_task())))
        self.check(lambda: asyncio.run_coroutine_threadsafe(self.work_in_task(), self.loop))
        self.check(lambda: self.loop.call_soon(self.work))
        self.check(lambda: self.loop.call_soon_threadsafe(self.work))
        for start in (done, of_executor, in_thread):
            self.check(start)

    def test_waiting_for_another(self) -> None:
        """Who waits for nothing, or for something else, does not vouch for the next one."""

        def gather() -> None:
            self.kept.append(asyncio.gather(self.work_in_task()))

        def wait_for() -> None:
            self.kept.append(asyncio.create_task(asyncio.wait_for(self.work_in_task(), SECONDS)))

        def given() -> None:
            task = asyncio.create_task(self.work_in_task(), context=copy_context())
            self.kept.append(task)

        async def keeps() -> None:
            await asyncio.sleep(0)
            self.take()
            if self.items:
                kept = asyncio.create_task(keeps())
                await asyncio.create_task(asyncio.sleep(0.01))
                self.kept.append(kept)
            else:
                self.finished.set()

        for start in (gather, wait_for, given):
            self.check(start)
        self.check(lambda: self.kept.append(asyncio.create_task(keeps())))

    def test_unknown(self) -> None:
        """What something unknown has started is nobody's, from the first one on."""

        def start() -> None:
            self.kept.append(asyncio.Task(self.work_in_task(), loop=self.loop))

        self.next = start
        self.assertEqual(self.worked_off(start), ["a"] * ITEMS)
        self.read("b")
        self.assertEqual(self.worked_off(start), [None] * ITEMS)

    def test_links(self) -> None:
        """A chain keeps none of its works that is over."""

        def start() -> None:
            self.kept[:] = [asyncio.gather(self.work_in_task())]

        self.next = start
        self.read("b")
        self.items.extend(range(100))
        self.worked_off(start)
        gc.collect()
        left = sum(type(each) is job_chains.Work for each in gc.get_objects())
        self.assertLess(left, 20)

    def test_of_frameworks(self) -> None:
        """So is what the application starts by a function of a framework that does not wait."""
        names: dict[str, Any] = {"__name__": "quart.app", "asyncio": asyncio}
        code = "def add(work): return asyncio.get_running_loop().call_soon(work)"
        exec(code, names)  # noqa: S102
        self.check(lambda: names["add"](self.work))
        code = "def begin(function): return asyncio.get_running_loop().create_task(function())"
        exec(code, names)  # noqa: S102
        self.check(lambda: self.kept.append(names["begin"](self.work_in_task)))

    def work_and_call(self) -> None:
        self.take()
        self.loop.call_soon_threadsafe(self.go_on)

    def check_awaited(self, start: Callable[[Callable[[int], Any], int], Any]) -> None:
        """Divide and conquer.

        :param start: starts a coroutine for two halves, and waits.
        """

        async def solve(depth: int) -> None:
            await asyncio.sleep(0)
            self.note()
            if depth:
                await start(solve, depth - 1)

        async def handle() -> None:
            self.contexts.enter(self.read("a"))
            await start(solve, DEPTH)

        async def main() -> None:
            await asyncio.create_task(handle())

        self.read("b")
        self.seen.clear()
        self.patch(joins, "_LOOKS", SECONDS / joins._POLL)
        asyncio.run(main())
        self.assertEqual(self.seen, ["a"] * (2 ** (DEPTH + 2) - 2), start)

    def test_awaited(self) -> None:
        """A task that whoever has started it awaits keeps the context."""

        async def gathered(solve: Any, depth: int) -> None:
            await asyncio.gather(solve(depth), solve(depth))

        async def tasks(solve: Any, depth: int) -> None:
            await asyncio.gather(*[asyncio.create_task(solve(depth)) for _ in "12"])

        async def two(solve: Any, depth: int) -> None:
            one = asyncio.create_task(solve(depth))
            other = asyncio.create_task(solve(depth))
            await one
            await other

        async def listed(solve: Any, depth: int) -> None:
            for each in [asyncio.create_task(solve(depth)) for _ in "12"]:
                await each

        async def waited(solve: Any, depth: int) -> None:
            await asyncio.wait([asyncio.create_task(solve(depth)) for _ in "12"])

        names: dict[str, Any] = {"__name__": "tornado.ioloop", "asyncio": asyncio}
        code = "def begin(coroutine): return asyncio.shield(asyncio.ensure_future(coroutine))"
        exec(code, names)  # noqa: S102

        async def by_framework(solve: Any, depth: int) -> None:
            await names["begin"](solve(depth))
            await names["begin"](solve(depth))

        for start in (gathered, tasks, two, listed, waited, by_framework):
            self.check_awaited(start)

    def test_awaited_later(self) -> None:
        """So does one that is awaited after something else, in any way."""

        async def with_timeout(solve: Any, depth: int) -> None:
            one, other = asyncio.create_task(solve(depth)), asyncio.ensure_future(solve(depth))
            await pause()
            await asyncio.wait_for(one, SECONDS)
            await asyncio.shield(other)

        async def gathered(solve: Any, depth: int) -> None:
            every = [asyncio.create_task(solve(depth)) for _ in "12"]
            await pause()
            await asyncio.gather(*every, return_exceptions=True)

        async def completed(solve: Any, depth: int) -> None:
            every = [asyncio.create_task(solve(depth)) for _ in "12"]
            await pause()
            for each in asyncio.as_completed(every):
                await each

        for start in (with_timeout, gathered, completed):
            self.check_awaited(start)

    def test_after_completed(self) -> None:
        """After ``as_completed``, which has a queue, the code is still its request's."""
        self.read("b")
        kept = []

        async def work() -> None:
            for each in asyncio.as_completed([asyncio.create_task(pause()) for _ in "123"]):
                await each
            self.note()
            await asyncio.create_task(solve())

        async def solve() -> None:
            self.note()

        async def handle() -> None:
            context = self.read("a")
            self.contexts.enter(context)
            kept.append(asyncio.create_task(work()))
            self.contexts.close(context)

        async def main() -> None:
            await asyncio.create_task(handle())
            await kept[0]

        self.seen.clear()
        asyncio.run(main())
        self.assertEqual(self.seen, ["a", "a"])

    def test_awaited_by_others(self) -> None:
        """So does one that is in a collection, a future or a generator."""

        async def by_name(solve: Any, depth: int) -> None:
            every = {name: asyncio.create_task(solve(depth)) for name in "12"}
            await pause()
            await every["1"]
            await every["2"]

        async def future(solve: Any, depth: int) -> None:
            both = asyncio.gather(solve(depth), solve(depth))
            await pause()
            await both

        async def generated(solve: Any, depth: int) -> None:
            async def generate() -> Any:
                for _ in "12":
                    one = asyncio.create_task(solve(depth))
                    await pause()
                    yield await one

            async for _ in generate():
                pass

        for start in (by_name, future, generated):
            self.check_awaited(start)

    def test_through_threads(self) -> None:
        """So does one that is awaited through a thread."""

        def begin(solve: Any, depth: int) -> None:
            asyncio.run(solve(depth))

        async def in_threads(solve: Any, depth: int) -> None:
            loop = asyncio.get_running_loop()
            await asyncio.gather(
                *(loop.run_in_executor(None, begin, solve, depth) for _ in "12"),
            )

        async def copied(solve: Any, depth: int) -> None:
            await asyncio.gather(*(asyncio.to_thread(begin, solve, depth) for _ in "12"))

        async def shielded(solve: Any, depth: int) -> None:
            await asyncio.gather(*(asyncio.shield(solve(depth)) for _ in "12"))

        for start in (in_threads, copied, shielded):
            self.check_awaited(start)


class Asked:
    """An object whose attributes do something, as those of remote procedures and proxies do."""

    def __init__(self) -> None:
        self.called = 0

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"{name} was asked for")

    def __call__(self, *_: Any) -> None:
        self.called += 1


class ForeignObjectTests(ChainCase):
    """Objects of the application that are given to pools, threads and loops."""

    def setUp(self) -> None:
        super().setUp()
        self.contexts.enter(self.read("a"))

    def test_functions(self) -> None:
        """A job, a thread's target and a callback are called, and nothing else of them is."""
        asked, mock = Asked(), Mock()
        with ThreadPoolExecutor(1) as pool:
            for function in (asked, mock, partial(asked), partial(mock)):
                pool.submit(function).result(SECONDS)
            pool.submit(int).add_done_callback(asked)
        thread = threading.Thread(target=asked, name="asked")
        thread.start()
        thread.join(SECONDS)
        self.assertEqual(asked.called, 4)
        self.assertEqual(mock.mock_calls, [call(), call()])

    def test_arguments(self) -> None:
        """So it is for what a callback of a loop is called with."""
        given: list[Any] = [Asked(), Mock()]
        taken: list[Any] = []

        def take(each: Any) -> None:
            taken.append(each)

        async def give() -> None:
            for each in given:
                asyncio.get_running_loop().call_soon(take, each)
            await asyncio.sleep(0)

        asyncio.run(give())
        self.assertEqual([id(each) for each in taken], [id(each) for each in given])
        self.assertEqual(given[1].mock_calls, [])
