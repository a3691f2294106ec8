"""Jobs of pools of processes."""

from __future__ import annotations

import concurrent.futures.process
import pickle
import sys
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from types import ModuleType, SimpleNamespace
from typing import Any

from trafficmock_preload.background.process_contexts import (
    change_process_executors,
    change_processes,
    function_for_pool,
    set_worker_contexts,
)
from trafficmock_preload.current_context import TestContexts
from twisted.trial.unittest import SynchronousTestCase

contexts = TestContexts(30)
"""Those of a worker, in which the functions run."""


def current(*_: object) -> str | None:
    """Return the id of the context."""
    found = contexts.current()
    return None if found is None else found.id


def sent(value: Any) -> Any:
    """Send a value as to another process."""
    return pickle.loads(ForkingPickler.dumps(value))  # noqa: S301


class ProcessTests(SynchronousTestCase):
    """What is sent to a process, and done there."""

    def test_forked(self) -> None:
        """A process that a request forks has its context, but for a loop for everyone."""
        found: list[str | None] = []

        class BaseProcess:
            def _bootstrap(self, work: Any) -> None:
                work()

        def loop() -> None:
            while True:
                found.append(current())
                raise_after(found)

        def raise_after(every: list[str | None]) -> None:
            if every[-1] != "a":
                raise LookupError

        change_processes(SimpleNamespace(BaseProcess=BaseProcess), contexts)  # type: ignore[arg-type]
        contexts.enter(contexts.read("trafficmock.test=a", None, None))
        BaseProcess()._bootstrap(lambda: found.append(current()))
        self.assertEqual(found, ["a"])
        self.assertRaises(LookupError, BaseProcess()._bootstrap, loop)
        self.assertEqual(found, ["a", None])

    def setUp(self) -> None:
        self.addCleanup(contexts.enter, contexts.enter(None))

    def enter(self, name: str | None) -> None:
        contexts.enter(contexts.read(name and f"trafficmock.test={name}", None, None))

    def test_executor(self) -> None:
        """A job of an executor has the context in which it was submitted, or none."""
        submitted: list[Any] = []

        class Executor:
            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> None:
                submitted.append((fn, args, kwargs))

        module = ModuleType("pools")
        item: Any = type("_CallItem", (concurrent.futures.process._CallItem,), {})
        module.__dict__.update(ProcessPoolExecutor=Executor, _CallItem=item)
        change_process_executors(module, contexts)
        for name in ("a", None, "b"):
            self.enter(name)
            Executor().submit(current, 1)
        self.enter("c")
        found = []
        for fn, args, kwargs in submitted:
            made = item.__new__(item)
            made.__setstate__(sent(vars(item(1, fn, args, kwargs))))
            found.append(made.fn(*made.args))
        self.assertEqual(found, ["a", None, "b"])
        self.assertIs(item(1, current, (), {}).fn, current)

    def test_pool(self) -> None:
        """So has one of a pool whose workers are forked; others have no context to begin with."""
        forked = SimpleNamespace(_ctx=get_context("fork"))
        spawned = SimpleNamespace(_ctx=get_context("spawn"))
        set_worker_contexts(contexts)
        jobs = []
        for name in ("a", None, "b"):
            self.enter(name)
            jobs.append(function_for_pool(forked, current, contexts, sys._getframe())[0])
            given, _ = function_for_pool(spawned, current, contexts, sys._getframe())
            self.assertIs(given, current)
        self.enter("c")
        self.assertEqual([sent(each)(1) for each in jobs], ["a", None, "b"])
