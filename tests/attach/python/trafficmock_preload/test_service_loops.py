"""What works on for its request, and what works for everyone."""

from __future__ import annotations

import asyncio
import asyncio.base_events
import asyncio.locks
import concurrent.futures.thread
import contextlib
import socket
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from trafficmock_preload.background import event_loops, signals
from trafficmock_preload.background.thread_contexts import change_executors, change_threading
from trafficmock_preload.current_context import TestContexts
from twisted.trial.unittest import SynchronousTestCase

from tests.attach.python.trafficmock_preload.test_queue_contexts import attached_loop, copied

SECONDS = 10
LIBRARY = "/srv/site-packages/poller.py"


class LeftError(Exception):
    """Leaves a loop without an end."""


class LoopCase(SynchronousTestCase):
    """Notes the context of code."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        self.seen: list[str | None] = []
        self.addCleanup(self.contexts.enter, self.contexts.enter(None))

    def note(self) -> None:
        found = self.contexts.current()
        self.seen.append(None if found is None else found.id)

    def read(self, name: str) -> Any:
        return self.contexts.read(f"trafficmock.test={name}", None, None)

    def endless(self) -> None:
        while True:
            self.note()
            self.leave()

    def leave(self) -> None:
        raise LeftError

    def until(self) -> None:
        left = 1
        while left:
            self.note()
            left -= 1

    def over_list(self) -> None:
        for _ in "x":
            self.note()

    def generated(self) -> None:
        def items() -> Any:
            while True:
                self.note()
                yield 1

        next(items())

    def library(self, source: str) -> Callable[[Callable[[], None]], None]:
        """Make a function of a library that calls one of the application."""
        names: dict[str, Any] = {"__name__": "poller"}
        exec(compile(source, LIBRARY, "exec"), names)  # noqa: S102
        found: Callable[[Callable[[], None]], None] = names["call"]
        return found


class ThreadTests(LoopCase):
    """Threads and jobs of pools that a request begins."""

    def setUp(self) -> None:
        super().setUp()
        threads = copied(threading, "Thread")
        change_threading(threads, self.contexts)
        self.thread: Any = threads.Thread
        pools = ModuleType("pools")
        executor = concurrent.futures.thread.ThreadPoolExecutor
        pools.__dict__["ThreadPoolExecutor"] = type("Executor", (executor,), {})
        change_executors(pools, self.contexts)
        self.executor: Any = pools.__dict__["ThreadPoolExecutor"]

    def begun(self, work: Callable[[], None], *, is_over: bool) -> list[str | None]:
        """Run a function in a thread, and as a job, of a request."""
        self.seen.clear()
        context = self.read("a")
        self.contexts.enter(context)
        if is_over:
            self.contexts.close(context)

        def run() -> None:
            with contextlib.suppress(LeftError):
                work()

        thread = self.thread(target=run)
        thread.start()
        thread.join(SECONDS)
        with self.executor(1) as pool:
            pool.submit(run).result(SECONDS)
        return self.seen

    def test_loops(self) -> None:
        """One without an end is for everyone, another ``while`` when the request is over."""
        for work, is_over, expected in (
            (self.endless, False, None),
            (self.endless, True, None),
            (self.until, False, "a"),
            (self.until, True, None),
            (self.over_list, True, "a"),
            (self.generated, True, "a"),
            (self.note, True, "a"),
        ):
            self.assertEqual(self.begun(work, is_over=is_over), [expected] * 2, (work, is_over))

    def test_libraries(self) -> None:
        """A library's loop that calls the application is for everyone; one within it is not."""
        looping = self.library("def call(f):\n left = [1]\n while left:\n  left.pop()\n  f()")
        self.assertEqual(self.begun(lambda: looping(self.note), is_over=False), ["a"] * 2)
        context = self.read("a")
        self.contexts.enter(context)
        self.seen.clear()
        for call, expected in ((looping, None), (self.library("def call(f): f()"), "a")):
            thread = self.thread(target=call, args=(self.note,))
            thread.start()
            thread.join(SECONDS)
            self.assertEqual(self.seen.pop(), expected)

    def test_home(self) -> None:
        """What handles the request is its own, whatever it does."""
        self.contexts.enter(self.read("a"))
        with contextlib.suppress(LeftError):
            self.endless()
        self.assertEqual(self.seen, ["a"])


class TaskTests(LoopCase):
    """Tasks of asyncio that a request begins."""

    def run_in_loop(self, main: Callable[[], Any]) -> None:
        module = ModuleType("loops")
        made = module.__dict__["BaseEventLoop"] = type("Loop", (asyncio.SelectorEventLoop,), {})
        event_loops.change_loops(module, self.contexts, "BaseEventLoop", "call_at")
        loop: Any = made()
        self.addCleanup(loop.close)
        loop.run_until_complete(asyncio.wait_for(main(), SECONDS))

    async def handle(self, start: Callable[[], Any], *, is_over: bool = False) -> Any:
        """Handle a request in a task of its own."""

        async def home() -> Any:
            context = self.read("a")
            self.contexts.enter(context)
            found = start()
            if is_over:
                self.contexts.close(context)
            await asyncio.wait([found])
            return found

        return await asyncio.create_task(home())

    async def work(self, work: Callable[[], None]) -> None:
        await asyncio.sleep(0)
        with contextlib.suppress(LeftError):
            work()

    def test_loops(self) -> None:
        """They are as in threads."""

        async def main() -> None:
            for work, is_over, expected in (
                (self.endless, False, None),
                (self.until, False, "a"),
                (self.until, True, None),
                (self.over_list, True, "a"),
                (self.note, True, "a"),
            ):
                self.seen.clear()
                await self.handle(
                    lambda: asyncio.create_task(self.work(work)),  # noqa: B023
                    is_over=is_over,
                )
                self.assertEqual(self.seen, [expected], (work, is_over))

        self.run_in_loop(main)

    def test_parts(self) -> None:
        """What waits for its tasks, or is a framework, gives them a part of the request."""
        framework: dict[str, Any] = {"__name__": "quart.app", "asyncio": asyncio}
        exec("def start(work): return asyncio.create_task(work)", framework)  # noqa: S102

        async def joined() -> None:
            await asyncio.gather(self.work(self.endless))

        async def grouped() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.work(self.endless))

        async def main() -> None:
            await self.handle(lambda: framework["start"](self.work(self.endless)))
            await self.handle(lambda: framework["start"](joined()))
            await self.handle(lambda: framework["start"](grouped()))

        self.run_in_loop(main)
        self.assertEqual(set(self.seen), {"a"})

    def test_started_by_loop(self) -> None:
        """What a loop for everyone starts is nobody's; what is awaited is not."""

        async def loop() -> None:
            left = 1
            while left:
                await asyncio.create_task(self.work(self.note))
                left -= 1

        async def again(count: int) -> None:
            self.note()
            if count:
                await asyncio.create_task(again(count - 1))

        async def main() -> None:
            await self.handle(lambda: asyncio.create_task(loop()), is_over=True)
            await self.handle(lambda: asyncio.create_task(again(1)), is_over=True)
            await self.handle(lambda: asyncio.create_task(again(1)))

        self.run_in_loop(main)
        self.assertEqual(self.seen, [None, "a", "a", "a", "a"])


class ConnectionTests(LoopCase):
    """What comes by a connection that a request has opened."""

    def test_sockets(self) -> None:
        """What asyncio calls then is nobody's; what awaits it keeps its context."""

        class Noting(asyncio.Protocol):
            def data_received(_, data: bytes) -> None:  # noqa: N805 - self is the case
                self.note()
                came.set_result(data)

        module = ModuleType("loops")
        selecting = type("BaseSelectorEventLoop", (asyncio.SelectorEventLoop,), {})
        module.__dict__["BaseSelectorEventLoop"] = selecting
        event_loops.change_sockets(module, self.contexts)
        loop: Any = selecting()
        self.addCleanup(loop.close)
        came = loop.create_future()
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)

        async def main() -> None:
            self.contexts.enter(self.read("a"))
            transport, _ = await loop.create_connection(Noting, sock=ours)
            theirs.send(b"x")
            await asyncio.wait_for(came, SECONDS)
            self.note()
            transport.close()

        loop.run_until_complete(main())
        self.assertEqual(self.seen, [None, "a"])

    def test_uvloop(self) -> None:
        """So it is with uvloop, which keeps the context in which a connection is opened."""

        class Loop:
            def create_task(self) -> None:
                """Start a task."""

            def call_later(self) -> None:
                """Start a timer."""

            call_soon = call_soon_threadsafe = call_later

            async def create_connection(_) -> None:  # noqa: N805 - self is the case
                self.note()
                # A task that it starts may take jobs.
                self.assertTrue(self.contexts.may_take(asyncio.current_task()))

            create_unix_connection = create_server = create_unix_server = create_connection
            create_datagram_endpoint = connect_read_pipe = connect_write_pipe = create_connection

            def add_reader(_, add: Any) -> None:  # noqa: N805 - self is the case
                add()

            add_writer = add_reader

        module = ModuleType("uvloop")
        module.__dict__["Loop"] = Loop
        event_loops.change_uvloop(module, self.contexts)
        self.contexts.enter(self.read("a"))
        names = ("create_connection", "create_server", "create_datagram_endpoint")
        for name in (*names, "connect_read_pipe"):
            asyncio.run(getattr(Loop(), name)())
            self.note()
        for name in ("add_reader", "add_writer"):
            getattr(Loop(), name)(self.note)
            self.note()
        self.assertEqual(self.seen, [None, "a"] * 6)


class SignalTests(LoopCase):
    """Loops that wait for a condition or an event."""

    def test_threads(self) -> None:
        """One that another test has signalled works for nobody; a lock hands over nothing."""
        module = copied(threading, "Thread", "Condition", "Event")
        change_threading(module, self.contexts)
        signals.change_threading_signals(module, self.contexts)
        known = {name: self.read(name) for name in "ab"}
        for by, rounds, expected in (("b", 1, None), ("a", 1, "a"), ("b", 0, "a")):
            self.seen.clear()
            condition, told = module.Condition(), module.Event()
            items: list[int] = []

            def take(condition: Any = condition, items: list[int] = items) -> None:
                with condition:
                    condition.wait_for(lambda: items)

            def work(told: Any = told, rounds: int = rounds, take: Any = take) -> None:
                told.set()
                for _ in range(not rounds):
                    take()
                    self.note()
                while rounds:
                    take()
                    self.note()
                    rounds -= 1

            self.contexts.enter(known["a"])
            thread = module.Thread(target=work)
            thread.start()
            told.wait(SECONDS)
            self.contexts.enter(known[by])
            with condition:
                items.append(1)
                condition.notify()
            thread.join(SECONDS)
            self.assertEqual(self.seen, [expected], (by, rounds))

    def test_tasks(self) -> None:
        """So it is with those of asyncio."""
        module = copied(asyncio.locks, "Condition", "Event")
        signals.change_asyncio_signals(module, self.contexts)

        async def main(by: str) -> None:
            event = module.Event()

            async def work() -> None:
                waits = 1
                while waits:
                    await event.wait()
                    self.note()
                    waits -= 1

            async def request(name: str, then: Callable[[], Any]) -> Any:
                self.contexts.enter(known.setdefault(name, self.read(name)))
                return then()

            known: dict[str, Any] = {}
            task = await asyncio.create_task(request("a", lambda: asyncio.create_task(work())))
            await asyncio.sleep(0)
            await asyncio.create_task(request(by, event.set))
            await task

        self.patch(asyncio.events, "new_event_loop", attached_loop(self.contexts))
        for by in "ba":
            asyncio.run(main(by))
        self.assertEqual(self.seen, [None, "a"])
