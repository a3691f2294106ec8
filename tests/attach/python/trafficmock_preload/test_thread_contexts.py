"""Threads, and jobs of pools."""

from __future__ import annotations

import concurrent.futures.thread
import multiprocessing.pool
import threading
from types import ModuleType
from typing import Any

from trafficmock_preload.background.thread_contexts import (
    change_executors,
    change_futures,
    change_multiprocessing_pools,
    change_threading,
)
from trafficmock_preload.current_context import TestContexts
from twisted.trial.unittest import SynchronousTestCase

from tests.attach.python.trafficmock_preload.test_queue_contexts import copied


class ThreadTests(SynchronousTestCase):
    """What runs in another thread."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        threads, pools = ModuleType("threads"), ModuleType("pools")
        thread = threads.__dict__["Thread"] = type("Thread", (threading.Thread,), {})
        # A timer is a thread, with what Python's own class adds.
        names = {name: vars(threading.Timer)[name] for name in ("__init__", "run")}
        self.timer: Any = type("Timer", (threading.Timer, thread), names)
        threads.__dict__["Timer"] = self.timer
        threads.__dict__["current_thread"] = threading.current_thread
        executor = concurrent.futures.thread.ThreadPoolExecutor
        pools.__dict__["ThreadPoolExecutor"] = type("Executor", (executor,), {})
        change_threading(threads, self.contexts)
        change_executors(pools, self.contexts)
        self.thread: Any = threads.__dict__["Thread"]
        self.executor: Any = pools.__dict__["ThreadPoolExecutor"]
        self.addCleanup(self.contexts.enter, None)

    def enter(self, name: str) -> None:
        self.contexts.enter(self.contexts.read(f"trafficmock.test={name}", None, None))

    def current(self) -> str | None:
        found = self.contexts.current()
        return None if found is None else found.id

    def in_thread(self) -> str | None:
        seen: list[str | None] = []
        thread = self.thread(target=lambda: seen.append(self.current()))
        thread.start()
        thread.join()
        self.assertNotIn("run", thread.__dict__)
        return seen[0]

    def test_thread(self) -> None:
        """A thread belongs to the request that started it, and one without to none."""
        self.assertIsNone(self.in_thread())
        self.enter("a")
        self.assertEqual(self.in_thread(), "a")

    def test_timers(self) -> None:
        """A timer that a timer starts when the request is over is nobody's."""
        context = self.contexts.read("trafficmock.test=a", None, None)
        self.contexts.enter(context)
        seen: list[str | None] = []
        done = threading.Event()

        def tick() -> None:
            seen.append(self.current())
            if len(seen) == 2:
                self.contexts.close(context)
            if len(seen) == 4:
                done.set()
            else:
                self.timer(0, tick).start()

        self.timer(0, tick).start()
        self.assertTrue(done.wait(10))
        self.assertEqual(seen, ["a", "a", None, None])

    def test_done(self) -> None:
        """What is called when a job is done has the context in which it was given."""
        module = copied(concurrent.futures._base, "Future")
        change_futures(module, self.contexts)
        future = module.Future
        made: Any = future()
        seen: list[str | None] = []
        for name in "ab":
            self.enter(name)
            made.add_done_callback(lambda _: seen.append(self.current()))
        self.contexts.enter(None)
        made.set_result(1)
        self.assertEqual(seen, ["a", "b"])

    def test_pool(self) -> None:
        """A job belongs to the request that submitted it, whoever's thread it gets."""
        with self.executor(1) as pool:
            self.enter("a")
            self.assertEqual(pool.submit(self.current).result(), "a")
            self.enter("b")
            self.assertEqual(pool.submit(self.current).result(), "b")
            self.contexts.enter(None)
            self.assertIsNone(pool.submit(self.current).result())

    def test_failure(self) -> None:
        """A job that fails leaves nothing to the next one, and gives its own error."""
        with self.executor(1) as pool:
            self.enter("a")
            failed = pool.submit(int, "no number")
            self.assertRaises(ValueError, failed.result)
            self.contexts.enter(None)
            self.assertIsNone(pool.submit(self.current).result())

    def test_multiprocessing_pool(self) -> None:
        """A job of a ``ThreadPool`` and its callback belong to the request that gave them."""
        module = copied(multiprocessing.pool, "ApplyResult", "IMapIterator")
        original = multiprocessing.pool.ThreadPool
        module.__dict__["Pool"] = type("Pool", (multiprocessing.pool.Pool,), {})
        module.__dict__["ThreadPool"] = type("ThreadPool", (original,), {})
        change_multiprocessing_pools(module, self.contexts)
        self.enter("a")
        with module.__dict__["ThreadPool"](1) as pool:
            for name in ("a", "b", None):
                self.contexts.enter(None)
                if name:
                    self.enter(name)
                self.check_pool(pool, name)
            self.assertRaises(ValueError, pool.apply, int, ("no number",))

    def check_pool(self, pool: Any, name: str | None) -> None:
        """Give a pool jobs in each way."""
        called: list[str | None] = []

        def ask(one: int, more: int = 0) -> tuple[int, str | None]:
            return one + more, self.current()

        def done(_: Any) -> None:
            called.append(self.current())

        both = [(1, name), (2, name)]
        self.assertEqual(pool.apply(ask, (1,), {"more": 2}), (3, name))
        self.assertEqual(pool.apply_async(func=ask, args=(1,), callback=done).get(), (1, name))
        self.assertEqual(pool.apply_async(ask, (1,), {}, done).get(), (1, name))
        self.assertEqual(pool.map(ask, [1, 2]), both)
        self.assertEqual(pool.map_async(ask, [1, 2], callback=done).get(), both)
        self.assertEqual(pool.map_async(ask, [1, 2], None, done).get(), both)
        self.assertEqual(pool.starmap(ask, [(1, 0), (2, 0)]), both)
        self.assertEqual(list(pool.imap(ask, [1, 2])), both)
        self.assertEqual(list(pool.imap_unordered(ask, [1, 2], 2)), both)
        self.assertEqual(called, [name] * 4)
