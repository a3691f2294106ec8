"""Threads, and jobs of pools."""

import concurrent.futures.thread
import threading
from types import ModuleType
from typing import Any

from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.thread_contexts import change_executors, change_threading
from twisted.trial.unittest import SynchronousTestCase


class ThreadTests(SynchronousTestCase):
    """What runs in another thread."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        threads, pools = ModuleType("threads"), ModuleType("pools")
        threads.__dict__["Thread"] = type("Thread", (threading.Thread,), {})
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
