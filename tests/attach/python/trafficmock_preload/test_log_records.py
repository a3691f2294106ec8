"""Records of logging that handlers keep: the context in which they were logged, or none."""

from __future__ import annotations

import logging
import logging.handlers
import queue
import sys
from types import ModuleType
from typing import Any
from unittest.mock import patch

from trafficmock_preload.background.log_records import change_log_handlers
from trafficmock_preload.import_hook import Changed

from tests.attach.python.trafficmock_preload.test_queue_contexts import QueueCase


class Sending(logging.Handler):
    """Stands for a handler that sends a request for each record."""

    def __init__(self, case: QueueCase) -> None:
        super().__init__()
        self.case = case

    def emit(self, _: logging.LogRecord) -> None:
        self.case.note()


class LogCase(QueueCase):
    """A logger with the handler of a test."""

    def setUp(self) -> None:
        super().setUp()
        kept = Changed(logging.handlers)
        change_log_handlers(logging.handlers, self.contexts)
        kept.compare()
        self.addCleanup(kept.restore)
        self.target = Sending(self)

    def logs(self, handler: logging.Handler, *names: str | None) -> None:
        """Log a record in each of the contexts."""
        for name in names:
            self.enter(name)
            handler.handle(logging.makeLogRecord({"msg": name, "levelno": logging.INFO}))


class MemoryHandlerTests(LogCase):
    """``MemoryHandler`` gives its records to another handler."""

    def setUp(self) -> None:
        super().setUp()
        self.handler = logging.handlers.MemoryHandler(4, target=self.target, flushOnClose=False)

    def test_full(self) -> None:
        """Each record is sent for its own test, whoever logs the last one."""
        self.logs(self.handler, "a", "b", None, "b", "a", "a")
        self.assertEqual(self.seen, ["a", "b", None, "b"])
        self.note()
        self.assertEqual(self.seen.pop(), "a", "the request goes on in its own context")

    def test_flushed(self) -> None:
        """So it is if the application flushes."""
        self.logs(self.handler, "a", "b")
        self.handler.flush()
        self.enter(None)
        self.handler.flush()
        self.assertEqual(self.seen, ["a", "b"])
        self.assertIs(self.handler.target, self.target)

    def test_before(self) -> None:
        """A record that came before the first context is nobody's."""
        with patch.object(self.contexts, "has_read", new=False):
            self.logs(self.handler, "a")
            self.handler.flush()
            self.assertEqual(self.seen, ["a"], "nothing is changed")
            self.logs(self.handler, None)
        self.logs(self.handler, "a")
        self.handler.flush()
        self.assertEqual(self.seen[1:], [None, "a"])

    def test_traced(self) -> None:
        """The baggage of the request that flushes does not count."""
        baggage: Any = ModuleType("baggage")
        baggage.get_baggage = lambda _: "b"
        with patch.dict(sys.modules, {"opentelemetry.baggage": baggage}):
            self.logs(self.handler, "a", "b", "a", "b")
        self.assertEqual(self.seen, ["a", "b", "a", "b"])

    def test_target(self) -> None:
        """The target may be taken away, also while it gets a record."""
        self.logs(self.handler, "a")
        other = Sending(self)
        with patch.object(self.target, "emit", lambda _: self.handler.setTarget(other)):
            self.handler.flush()
        self.assertIs(self.handler.target, other)
        self.handler.setTarget(None)
        self.logs(self.handler, "a")
        self.handler.flush()
        self.assertEqual(self.seen, [])


class BatchTests(LogCase):
    """A handler of the application's sends its records in one request."""

    def setUp(self) -> None:
        super().setUp()

        class Batch(logging.handlers.BufferingHandler):
            def flush(handler) -> None:  # noqa: N805 - ``self`` is the test
                if handler.buffer:
                    self.note()
                    handler.buffer.clear()

        class Same(Batch):
            """Flushes as the other one does."""

        self.handler = Same(2)

    def test_batches(self) -> None:
        """A batch of one test is that test's, one of several tests is nobody's."""
        self.logs(self.handler, "a", "a", "a", "b", "b", "b", None, "b")
        self.assertEqual(self.seen, ["a", None, "b", None])

    def test_flushed(self) -> None:
        """So it is if the application flushes."""
        self.logs(self.handler, "a")
        self.enter("b")
        self.handler.flush()
        self.assertEqual(self.seen, ["a"])
        with patch.object(self.contexts, "has_read", new=False):
            self.logs(self.handler, "b")
            self.handler.flush()
        self.assertEqual(self.seen, ["a", "b"])


class ListenerTests(LogCase):
    """The thread of a ``QueueListener``."""

    def test_started(self) -> None:
        """It works for everyone, if the first request has started it."""
        records: Any = queue.Queue()
        listener = logging.handlers.QueueListener(records, self.target)
        for name in ("a", "b"):
            self.enter(name)
            logging.handlers.QueueHandler(records).handle(
                logging.makeLogRecord({"msg": name, "levelno": logging.INFO})
            )
        self.enter("a")
        records.put(listener._sentinel)  # type: ignore[attr-defined]
        thread = self.thread(target=listener._monitor)  # type: ignore[attr-defined]
        thread.start()
        thread.join()
        self.assertEqual(self.seen, [None, None])
