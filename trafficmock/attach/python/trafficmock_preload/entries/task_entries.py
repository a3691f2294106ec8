"""Carries the context of a test in the messages of task queues, and sets it where a task runs.

A message gets a header ``baggage`` (W3C Baggage), as by OpenTelemetry's instrumentations of these
libraries. A task has a context of its own, which lasts as long as it runs: what it sends later, and
the tasks that it enqueues, retries included, belong to the same test.
"""

from __future__ import annotations

from functools import partial

from trafficmock_preload.entries.context_reading import MEMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts

HEADER = "baggage"


def change_kombu(module: ModuleType, contexts: TestContexts) -> None:
    """Add the context to the headers of each message of kombu, on which Celery stands."""
    producer: Any = module.__dict__["Producer"]
    original = producer.publish

    def publish(self: Any, *args: Any, **kwargs: Any) -> Any:
        added = carrying(kwargs.get("headers"), contexts)
        # The headers are the tenth argument of ``publish``: callers give them by name.
        return original(self, *args, **(kwargs if added is None else {**kwargs, "headers": added}))

    producer.publish = publish


def change_celery(module: ModuleType, contexts: TestContexts) -> None:
    """Run each task of a Celery worker in the context of its message."""
    original = module.__dict__["build_tracer"]

    def build_tracer(*args: Any, **kwargs: Any) -> Any:
        tracer = original(*args, **kwargs)
        if kwargs.get("eager"):
            return tracer  # The task runs where it was called, in the context there.

        def traced(uuid: Any, given: Any, options: Any, request: Any = None) -> Any:
            call = partial(tracer, uuid, given, options, request)
            return within_message(request or {}, call, contexts)

        return traced

    module.__dict__["build_tracer"] = build_tracer


def change_rq(module: ModuleType, contexts: TestContexts) -> None:
    """Keep the context in the ``meta`` of each job of RQ, and run the job in that context."""
    job: Any = module.__dict__["Job"]
    create = job.create.__func__

    def created(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = create(cls, *args, **kwargs)
        added = carrying(made.meta, contexts)
        if added is not None:
            made.meta = added
        return made

    job.create = classmethod(created)
    _run_in_context_of_job(job, contexts)


def change_rq_callbacks(module: ModuleType, contexts: TestContexts) -> None:
    """Run callbacks of jobs in their contexts; before RQ 3 they are methods of the job."""
    _run_in_context_of_job(module, contexts)


def _run_in_context_of_job(owner: Any, contexts: TestContexts) -> None:
    """Change those functions of a class or module that run a job, or something after it."""

    def change(name: str) -> None:
        original = getattr(owner, name)

        def performed(job: Any, *args: Any, **kwargs: Any) -> Any:
            call = partial(original, job, *args, **kwargs)
            return within_message(job.meta or {}, call, contexts)

        setattr(owner, name, performed)

    callbacks = [f"execute_{event}_callback" for event in ("success", "failure", "stopped")]
    for name in ("perform", *callbacks):
        if hasattr(owner, name):
            change(name)


def change_dramatiq_actors(module: ModuleType, contexts: TestContexts) -> None:
    """Add the context to the options of each message of Dramatiq."""
    actor: Any = module.__dict__["Actor"]
    original = actor.message_with_options

    def message_with_options(self: Any, **kwargs: Any) -> Any:
        return original(self, **(carrying(kwargs, contexts) or kwargs))

    actor.message_with_options = message_with_options


def change_dramatiq_workers(module: ModuleType, contexts: TestContexts) -> None:
    """Run each message of Dramatiq in its context."""
    worker: Any = module.__dict__["_WorkerThread"]
    original = worker.process_message

    def process_message(self: Any, message: Any) -> Any:
        return within_message(message.options, partial(original, self, message), contexts)

    worker.process_message = process_message


def carrying(headers: Mapping[str, Any] | None, contexts: TestContexts) -> dict[str, Any] | None:
    """Return headers with the context of the code that runs; ``None`` if there is nothing to add.

    The id of a trace is not added: the application's own tracing carries it.
    """
    context = contexts.current()
    if context is None or not context.is_forwarded:
        return None
    present = (headers or {}).get(HEADER)
    if present is not None and (not isinstance(present, str) or MEMBER in present):
        return None
    member = f"{MEMBER}={context.id}"
    return {**(headers or {}), HEADER: f"{present},{member}" if present else member}


def within_message(headers: Any, call: Callable[[], Any], contexts: TestContexts) -> Any:
    """Call a task in the context of its message, or in none.

    :param headers: a mapping with ``baggage``, and ``traceparent`` of OpenTelemetry.
    """
    lines = [headers.get(name) for name in (HEADER, "traceparent")]
    baggage, trace = (line if isinstance(line, str) else None for line in lines)
    context = contexts.read(baggage, None, trace)
    before = contexts.enter(context)
    try:
        return call()
    finally:
        contexts.close(context)
        contexts.enter(before)
