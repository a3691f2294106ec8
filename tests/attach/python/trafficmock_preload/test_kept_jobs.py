"""Jobs, batches and messages that libraries keep: the context of whoever gave them, or none."""

from __future__ import annotations

import asyncio
import gc
import io
import sched
import socket
import weakref
from collections import namedtuple
from types import ModuleType, SimpleNamespace
from typing import Any

from trafficmock_preload.background import kept_jobs, received_messages

from tests.attach.python.trafficmock_preload.test_queue_contexts import (
    QueueCase,
    attached_loop,
    copied,
)


class Work:
    """A job, or what waits for an item."""


def library(**names: Any) -> ModuleType:
    made = ModuleType("library")
    made.__dict__.update(names)
    return made


class KeptJobTests(QueueCase):
    """Jobs that start in the context of another one."""

    def test_known(self) -> None:
        """An object is known while it lives, also one without a hash."""
        known = kept_jobs.GivenContexts()
        given = type("Given", (), {"__hash__": None})()
        work: Any = object()
        known.add(given, work)
        self.assertIs(known.of(given), work)
        del given
        gc.collect()
        self.assertEqual(known._known, {})
        self.assertIsNone(known.of(Work()))
        known.add(1, work)
        self.assertIsNone(known.of(1), "it does not say when it goes")

    def test_finalizers(self) -> None:
        """What the collector calls is nobody's; what the application calls has its context."""
        module = copied(weakref, "finalize")
        kept_jobs.change_finalizers(module, self.contexts)
        self.enter("a")
        kept = Work()
        made = module.finalize(kept, self.note)
        called = module.finalize(kept, self.note)
        self.assertEqual(called.peek()[1], self.note)
        self.enter("b")
        called()
        self.assertEqual(self.seen, ["b"])
        del kept
        self.assertFalse(made.alive)
        self.note()
        self.assertEqual(self.seen, ["b", None, "b"])
        self.enter(None)
        other = Work()
        module.finalize(other, self.note)
        del other
        self.assertEqual(self.seen[3:], [None])

    def test_sched(self) -> None:
        """What a scheduler calls has the context in which it was entered."""
        module = copied(sched, "scheduler")
        kept_jobs.change_sched(module, self.contexts)
        made = module.scheduler()
        for name in ("b", None, "a"):
            self.enter(name)
            made.enter(0, len(self.known), self.note)
        self.enter("a")
        made.run()
        self.assertEqual(sorted(map(str, self.seen)), ["None", "a", "b"])

    def test_apscheduler(self) -> None:
        """A job that runs once has the context in which it was added, another one has none."""

        class Job:
            __hash__ = None  # type: ignore[assignment]

            def __init__(self, trigger: Any) -> None:
                self.trigger = trigger

        class BaseExecutor:
            def submit_job(self, *_: Any) -> None:
                case.note()

        case = self
        module = library(Job=Job, BaseExecutor=BaseExecutor)
        kept_jobs.change_apscheduler_jobs(module, self.contexts)
        kept_jobs.change_apscheduler_executors(module, self.contexts)
        self.enter("b")
        triggers = (type("DateTrigger", (), {})(), type("IntervalTrigger", (), {})())
        jobs = [Job(trigger) for trigger in triggers]
        self.enter("a")
        for job in jobs:
            BaseExecutor().submit_job(job, [])
        self.note()
        self.assertEqual(self.seen, ["b", None, "a"])

    def test_aiojobs(self) -> None:
        """A job that another one's end starts has the context in which it was spawned."""

        class Job:
            def _start(self) -> None:
                case.note()

        case = self
        kept_jobs.change_aiojobs(library(Job=Job), self.contexts)
        self.enter("b")
        job = Job()
        self.enter("a")
        job._start()
        self.assertEqual(self.seen, ["b"])

    def test_batches(self) -> None:
        """A batch has a context if all of its items have the same."""
        loader = namedtuple("loader", "key future resolve")  # noqa: PYI024

        class Batch:
            def __init__(self) -> None:
                self.tasks: list[Any] = []

            def add_task(self, _: Any, future: Any) -> None:
                self.tasks.append(SimpleNamespace(future=future))

        class DataLoader:
            def __init__(self) -> None:
                self.queue: list[Any] = []

            def do_resolve_reject(self, key: Any, future: Any) -> None:
                self.queue.append(loader(key, future, future))

        async def dispatch(*_: Any) -> None:
            case.note()

        case = self
        one = library(Batch=Batch, dispatch_batch=dispatch)
        kept_jobs.change_strawberry_loaders(one, self.contexts)
        two = library(DataLoader=DataLoader, dispatch_queue_batch=dispatch)
        kept_jobs.change_aiodataloader(two, self.contexts)
        blocking = type("DataLoader", (DataLoader,), {})
        three = library(DataLoader=blocking, dispatch_queue_batch=lambda *_: self.note())
        kept_jobs.change_promise_loaders(three, self.contexts)
        for names, expected in (("bb", "b"), ("ab", None)):
            self.seen.clear()
            batch, queued, promised = Batch(), DataLoader(), blocking()
            for name in names:
                self.enter(name)
                batch.add_task(1, Work())
                queued.do_resolve_reject(1, Work())
                promised.do_resolve_reject(1, Work())
            asyncio.run(one.__dict__["dispatch_batch"](None, batch))
            asyncio.run(two.__dict__["dispatch_queue_batch"](None, queued.queue))
            three.__dict__["dispatch_queue_batch"](None, promised.queue)
            self.assertEqual(self.seen, [expected] * 3, names)


class ReceivedTests(QueueCase):
    """Messages of subscriptions."""

    def listen(self, pubsub: Any, connection: Any) -> None:
        pubsub.handle_message()
        self.note()
        for _ in connection.notifies():
            self.note()

    def test_received(self) -> None:
        """What a thread of the first request receives is nobody's, what a request does its own."""

        class PubSub:
            def handle_message(self) -> None:
                """Handle a message."""

        class Connection:
            def notifies(self) -> Any:
                yield 1

        received_messages.change_redis(library(PubSub=PubSub), self.contexts)
        received_messages.change_psycopg(
            library(Connection=Connection), self.contexts, "Connection"
        )
        self.enter("a")
        self.listen(PubSub(), Connection())
        thread = self.thread(target=self.listen, args=(PubSub(), Connection()))
        thread.start()
        thread.join(10)
        self.assertEqual(self.seen, ["a", "a", None, None])

    def in_thread(self, work: Any, *, is_over: bool = False) -> list[str | None]:
        """Run a function in a thread that a request starts, and give what it notes."""
        self.seen.clear()
        context = self.contexts.read("trafficmock.test=a", None, None)
        self.contexts.enter(context)
        thread = self.thread(target=work)
        if is_over:
            self.contexts.close(context)
        thread.start()
        thread.join(10)
        return self.seen

    def test_redis_reads(self) -> None:
        """What a loop gets from a stream or list is nobody's; one read may wait for a reply."""

        class StreamCommands:
            def xread(self, *_: Any, **__: Any) -> Any:
                return left.pop()

        module = library(StreamCommands=StreamCommands, ListCommands=type("ListCommands", (), {}))
        received_messages.change_redis_reads(module, self.contexts)
        left: list[Any] = []
        client = StreamCommands()

        def loop() -> None:
            for _ in range(2):
                client.xread({"jobs": "$"}, block=0)
                self.note()

        def iterated() -> None:
            for _ in iter(lambda: client.xread({"jobs": "$"}), []):
                self.note()

        def once() -> None:
            client.xread({"replies": "$"}, block=0)
            self.note()

        left[:] = [["two"], []]
        self.assertEqual(self.in_thread(loop), ["a", None])
        left[:] = [[], ["one"]]
        self.assertEqual(self.in_thread(iterated), [None])
        left[:] = [["one"]]
        self.assertEqual(self.in_thread(once), ["a"])
        left[:] = [["two"], ["one"]]
        self.seen.clear()
        loop()
        self.assertEqual(self.seen, ["a", "a"], "a request waits itself")

    def test_redis_reads_later(self) -> None:
        """So it is in tasks of asyncio."""

        class ListCommands:
            def blpop(self) -> Any:
                async def found() -> Any:
                    return ["queue", "job"]

                return found()

        received_messages.change_redis_reads(library(ListCommands=ListCommands), self.contexts)

        async def loop() -> None:
            for _ in range(1):
                await ListCommands().blpop()
                self.note()

        async def once() -> None:
            await ListCommands().blpop()
            self.note()

        async def main() -> None:
            self.contexts.enter(self.contexts.read("trafficmock.test=a", None, None))
            await loop()
            await asyncio.create_task(once())
            await asyncio.create_task(loop())

        self.patch(asyncio.events, "new_event_loop", attached_loop(self.contexts))
        asyncio.run(main())
        self.assertEqual(self.seen, ["a", "a", None])

    def test_socket_files(self) -> None:
        """A loop over the file of a socket is for everyone after the request that began it."""
        module = copied(socket, "SocketIO")
        received_messages.change_socket_files(module, self.contexts)

        def lines() -> Any:
            ours, theirs = socket.socketpair()
            self.addCleanup(ours.close)
            theirs.sendall(b"one\n")
            theirs.close()
            return io.BufferedReader(module.SocketIO(ours, "r"))

        def loop() -> None:
            for _ in io.TextIOWrapper(lines()):
                self.note()

        def once() -> None:
            lines().readline()
            self.note()

        def of_library() -> None:
            names: dict[str, Any] = {}
            code = "def read(lines):\n  return [each for each in lines]"
            exec(compile(code, "/srv/site-packages/client.py", "exec"), names)  # noqa: S102
            for _ in names["read"](lines()):
                self.note()

        for work, is_over, expected in (
            (loop, True, None),
            (loop, False, "a"),
            (once, True, "a"),
            (of_library, True, "a"),
        ):
            self.assertEqual(self.in_thread(work, is_over=is_over), [expected], (work, is_over))

    def test_received_later(self) -> None:
        """So it is in tasks of asyncio."""

        class PubSub:
            async def handle_message(self) -> None:
                """Handle a message."""

        class Connection:
            async def notifies(self) -> Any:
                yield 1

        received_messages.change_redis(library(PubSub=PubSub), self.contexts)
        received_messages.change_psycopg(
            library(Connection=Connection), self.contexts, "Connection"
        )

        async def listen() -> None:
            await PubSub().handle_message()
            self.note()
            async for _ in Connection().notifies():
                self.note()

        async def main() -> None:
            self.contexts.enter(self.contexts.read("trafficmock.test=a", None, None))
            await listen()
            await asyncio.create_task(listen())

        asyncio.run(main())
        self.assertEqual(self.seen, ["a", "a", None, None])
