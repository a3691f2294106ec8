"""Which context counts, where and for how long."""

import sys
from contextvars import copy_context
from types import ModuleType
from unittest.mock import patch

from trafficmock_preload import sending_code
from trafficmock_preload.current_context import ConsumerContext, TestContexts
from twisted.trial.unittest import SynchronousTestCase


class ContextsTests(SynchronousTestCase):
    """The contexts of one process."""

    def setUp(self) -> None:
        self.time = 0.0
        self.contexts = TestContexts(30, now=lambda: self.time)

    def test_outgoing(self) -> None:
        """A request names the context; one that was carried goes on in the baggage."""
        self.contexts.ask_origins(wanted=True)
        named, (origin, _) = self.contexts.outgoing()
        self.assertEqual((named, origin), (("Trafficmock-Context", ""), "Trafficmock-Origin"))
        self.contexts.enter(self.contexts.read("trafficmock.test=a", None, None))
        self.assertEqual(
            self.contexts.outgoing(),
            [("Trafficmock-Context", "a"), ("baggage", "trafficmock.test=a")],
        )
        trace = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
        self.contexts.enter(self.contexts.read(None, None, trace))
        self.assertEqual(self.contexts.outgoing(), [("Trafficmock-Context", "a" * 32)])

    def test_origins(self) -> None:
        """Where a request comes from is found out only while tests with contexts run."""
        found: list[object] = []

        def coded(*requests: object, is_loop: bool) -> str:
            found.append((*requests, is_loop))
            return ""

        self.patch(sending_code, "coded", coded)

        def sent() -> int:
            found.clear()
            self.contexts.outgoing()
            return len(found)

        self.assertEqual(sent(), 0, "no test runs")
        self.contexts.ask_origins(wanted=True)
        self.assertEqual(sent(), 1, "the proxy asks for it")
        self.contexts.ask_origins(wanted=False)
        self.assertEqual(sent(), 0, "the proxy does not any more")
        self.contexts.read("trafficmock.test=a", None, None, ("GET", "/"))
        self.time = 29.9
        self.assertEqual(sent(), 1, "a context has come in")
        self.time = 30.0
        self.assertEqual(sent(), 0, "it is long ago")
        end = self.contexts.begin_test("b")
        self.assertEqual(self.contexts.copied(None).run(sent), 1, "a test runs in this process")
        end()
        self.assertEqual(self.contexts.copied(None).run(sent), 0)

    def test_taken(self) -> None:
        """The job of a consumer counts before the baggage that began with the consumer."""
        for name in "ab":
            self.contexts.read(f"trafficmock.test={name}", None, None)
        baggage = ModuleType("opentelemetry.baggage")
        baggage.__dict__["get_baggage"] = lambda _name: "a"
        queue, job = ModuleType("queue"), self.contexts.read("trafficmock.test=b", None, None)

        def within() -> list[str]:
            found = [self.contexts.outgoing()[0][1]]
            self.contexts.enter(ConsumerContext(None))
            self.contexts.take(None if job is None else job.own_work(), queue)
            return [*found, self.contexts.outgoing()[0][1]]

        with patch.dict(sys.modules, {"opentelemetry.baggage": baggage}):
            self.assertEqual(copy_context().run(within), ["a", "b"])

    def test_own_test(self) -> None:
        """A call of the application in a test's own thread belongs to the test, until its end."""
        end = self.contexts.begin_test("a")
        trace = "00-" + "b" * 32 + "-" + "c" * 16 + "-01"
        for traceparent in (None, trace):
            found = self.contexts.read(None, None, traceparent)
            assert found is not None
            self.assertEqual(found.id, "a")
            self.contexts.close(found)
            self.assertIsNone(found.closed_at)
        other = self.contexts.read("trafficmock.test=d", None, trace)
        assert other is not None
        self.assertEqual(other.id, "d")
        end()
        self.assertEqual(self.contexts.outgoing()[0], ("Trafficmock-Context", ""))

    def test_after_own_test(self) -> None:
        """What a test has left behind is late, and then nobody's."""
        self.time = 0.0
        end = self.contexts.begin_test("a")
        left = copy_context()
        end()
        self.assertEqual(left.run(self.contexts.outgoing)[0], ("Trafficmock-Context", "a"))
        self.time = 31.0
        self.assertEqual(left.run(self.contexts.outgoing)[0], ("Trafficmock-Context", ""))

    def test_time(self) -> None:
        """It counts for 30 s after the inbound request is over."""
        context = self.contexts.read("trafficmock.test=a", None, None)
        self.contexts.enter(context)
        self.time = 1000.0
        self.assertIs(self.contexts.current(), context)
        self.contexts.close(context)
        self.time = 1030.0
        self.contexts.close(context)
        self.assertIs(self.contexts.current(), context)
        self.time = 1030.1
        self.assertIsNone(self.contexts.current())

    def test_off(self) -> None:
        """Turned off, nothing is read."""
        contexts = TestContexts(30, is_on=False)
        self.assertIsNone(contexts.read("trafficmock.test=a", None, None))
        self.assertIsNone(contexts.current())

    def test_apart(self) -> None:
        """What runs in another context of Python does not see it."""
        copied = copy_context()
        self.contexts.enter(self.contexts.read("trafficmock.test=a", None, None))
        self.assertIsNone(copied.run(self.contexts.current))

    def test_many(self) -> None:
        """So many are known by their id; the oldest is forgotten."""
        for number in range(1001):
            self.contexts.read(f"trafficmock.test=a{number}", None, None)
        self.assertEqual((len(self.contexts._known), "a0" in self.contexts._known), (1000, False))

    def test_tracing(self) -> None:
        """The active baggage of OpenTelemetry counts first, if it names a context that came in."""
        baggage = ModuleType("opentelemetry.baggage")
        said = ["b"]
        baggage.get_baggage = lambda name: said[0] if name == "trafficmock.test" else None  # type: ignore[attr-defined]
        self.patch(sys, "modules", {**sys.modules, "opentelemetry.baggage": baggage})
        first = self.contexts.read("trafficmock.test=a", None, None)
        second = self.contexts.read("trafficmock.test=b", None, None)
        self.contexts.enter(first)
        self.assertIs(self.contexts.current(), second)
        said[0] = "unknown"
        self.assertIs(self.contexts.current(), first)
