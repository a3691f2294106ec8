"""Messages of task queues, with classes that stand for those of the libraries."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.entries import task_entries
from twisted.trial.unittest import SynchronousTestCase


class TaskCase(SynchronousTestCase):
    """Notes the context in which a task runs."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        self.seen: list[str | None] = []
        self.addCleanup(self.contexts.enter, None)

    def enter(self, baggage: str | None) -> None:
        self.contexts.enter(self.contexts.read(baggage, None, None))

    def note(self, *_: Any) -> str:
        found = self.contexts.current()
        self.seen.append(None if found is None else found.id)
        return "result"


def module_with(**members: Any) -> ModuleType:
    module = ModuleType("library")
    module.__dict__.update(members)
    return module


class MessageTests(TaskCase):
    """What a message carries."""

    def test_headers(self) -> None:
        """The member is added to the headers that there are, once; without a context, nothing."""
        self.assertIsNone(task_entries.carrying({"a": 1}, self.contexts))
        self.enter("trafficmock.test=a")
        for given, wanted in (
            (None, {"baggage": "trafficmock.test=a"}),
            ({"x": 1}, {"x": 1, "baggage": "trafficmock.test=a"}),
            ({"baggage": "user=7"}, {"baggage": "user=7,trafficmock.test=a"}),
            ({"baggage": "trafficmock.test=a"}, None),
            ({"baggage": 7}, None),
        ):
            self.assertEqual(task_entries.carrying(given, self.contexts), wanted)

    def test_trace(self) -> None:
        """The id of a trace is left to the application's own tracing."""
        trace = f"00-{'a' * 32}-{'b' * 16}-01"
        self.contexts.enter(self.contexts.read(None, None, trace))
        self.assertIsNone(task_entries.carrying({}, self.contexts))

    def test_kombu(self) -> None:
        class Producer:
            def publish(self, body: str, headers: Any = None) -> Any:
                return body, headers

        task_entries.change_kombu(module_with(Producer=Producer), self.contexts)
        self.assertEqual(Producer().publish("x"), ("x", None))
        self.enter("trafficmock.test=a")
        sent = ("x", {"id": 1, "baggage": "trafficmock.test=a"})
        self.assertEqual(Producer().publish("x", headers={"id": 1}), sent)


class RunTests(TaskCase):
    """The context in which a task runs: that of its message, or none."""

    def test_within(self) -> None:
        """It is over with the task, also one that fails; before and after it is another one."""
        self.enter("trafficmock.test=worker")
        headers = {"baggage": "trafficmock.test=a"}
        self.assertEqual(task_entries.within_message(headers, self.note, self.contexts), "result")
        task_entries.within_message({"baggage": b"no text"}, self.note, self.contexts)
        self.assertRaises(
            ZeroDivisionError, task_entries.within_message, headers, lambda: 1 // 0, self.contexts
        )
        self.note()
        self.assertEqual(self.seen, ["a", None, "worker"])

    def test_celery(self) -> None:
        """An eager task keeps the context of its caller."""

        def build_tracer(_name: str, *, eager: bool = False) -> Any:
            return lambda _uuid, _args, _kwargs, _request=None: (self.note(), eager)

        module = module_with(build_tracer=build_tracer)
        task_entries.change_celery(module, self.contexts)
        build = module.__dict__["build_tracer"]
        self.enter("trafficmock.test=caller")
        request = {"id": 1, "baggage": "trafficmock.test=a"}
        self.assertEqual(build("price")("1", (), {}, request), ("result", False))
        build("price")("1", (), {})
        build("price", eager=True)("1", (), {})
        self.assertEqual(self.seen, ["a", None, "caller"])

    def test_rq(self) -> None:
        note = self.note

        class Job:
            def __init__(self) -> None:
                self.meta: dict[str, Any] = {}

            @classmethod
            def create(cls, _function: Any) -> Job:
                return cls()

            def perform(self) -> str:
                return note()

            def execute_success_callback(self, timeout: int, result: str) -> None:
                note(timeout, result)

        task_entries.change_rq(module_with(Job=Job), self.contexts)
        self.assertEqual(Job.create(note).meta, {})
        self.enter("trafficmock.test=a")
        job = Job.create(note)
        self.enter(None)
        self.assertEqual((job.perform(), self.seen), ("result", ["a"]))
        job.execute_success_callback(60, "result")
        callbacks = module_with(execute_failure_callback=note)
        task_entries.change_rq_callbacks(callbacks, self.contexts)
        callbacks.__dict__["execute_failure_callback"](job, 60)
        self.assertEqual(self.seen, ["a"] * 3)

    def test_dramatiq(self) -> None:
        note = self.note

        class Actor:
            def message_with_options(self, **options: Any) -> Any:
                return SimpleNamespace(options=options)

        class _WorkerThread:
            def process_message(self, message: Any) -> None:
                note(message)

        task_entries.change_dramatiq_actors(module_with(Actor=Actor), self.contexts)
        task_entries.change_dramatiq_workers(
            module_with(_WorkerThread=_WorkerThread), self.contexts
        )
        self.enter("trafficmock.test=a")
        message = Actor().message_with_options(args=(1,))
        self.enter(None)
        _WorkerThread().process_message(message)
        _WorkerThread().process_message(Actor().message_with_options(args=(1,)))
        self.assertEqual(self.seen, ["a", None])
