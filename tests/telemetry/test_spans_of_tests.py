"""Spans of tests."""

from twisted.trial.unittest import SynchronousTestCase

from tests.telemetry.fakes import Harness
from tests.telemetry.messages import attributes, span_of
from trafficmock import records
from trafficmock.telemetry import spans_of_tests

CONTEXT = "0af7651916cd43dd8448eb211c80319c"


class TestSpanTests(SynchronousTestCase):
    """A test is one span, the root of its trace."""

    def setUp(self) -> None:
        self.harness = Harness()

    def test_context(self) -> None:
        """The context of a test is its trace, in which its own requests name this span."""
        self.harness.record(
            records.TestBegan("t1", "pays", "f.py", CONTEXT), records.TestEnded("t1", passed=False)
        )
        (message,) = self.harness.written()
        span = span_of(message)
        self.assertEqual((span.trace_id.hex(), span.span_id.hex()), (CONTEXT, CONTEXT[16:]))
        self.assertEqual((span.name, span.kind, span.status.code), ("pays", 1, 2))
        found = attributes(span.attributes)
        self.assertEqual(found["test.case.result.status"], "fail")
        self.assertEqual((found["test.case.name"], found["test.suite.name"]), ("pays", "f.py"))

    def test_without(self) -> None:
        """A test without a context has random ids; a result that is not known is left out."""
        self.harness.record(
            records.TestBegan("t1", "", "", None), records.TestEnded("t1", passed=None)
        )
        (message,) = self.harness.written()
        span = span_of(message)
        self.assertEqual((span.name, len(span.trace_id), len(span.span_id)), ("test", 16, 8))
        self.assertNotIn("test.case.result.status", attributes(span.attributes))

    def test_passed(self) -> None:
        """A test that passed is no error."""
        self.harness.record(
            records.TestBegan("t1", "pays", "", None), records.TestEnded("t1", passed=True)
        )
        (message,) = self.harness.written()
        self.assertEqual(span_of(message).status.code, 0)

    def test_ended_tests(self) -> None:
        """Traffic that is over after its test finds the test, the last ones at least."""
        self.patch(spans_of_tests, "MOST_ENDED", 1)
        tests = self.harness.exporter.parts[2]
        for name in ("t1", "t2"):
            began = records.TestBegan(name, name, "", CONTEXT)
            self.harness.record(began, records.TestEnded(name, passed=True))
        self.assertEqual(tests.traces.keys(), {"t2"})
        self.assertIn(bytes.fromhex(CONTEXT), tests.traces["t2"])

    def test_again(self) -> None:
        """A test that runs again under its id is kept, however many have ended before it."""
        self.patch(spans_of_tests, "MOST_ENDED", 1)
        tests = self.harness.exporter.parts[2]
        again = records.TestBegan("t1", "t1", "", CONTEXT[::-1])
        self.harness.record(
            records.TestBegan("t1", "t1", "", CONTEXT),
            records.TestEnded("t1", passed=False),
            again,
        )
        for name in ("t2", "t3"):
            began = records.TestBegan(name, name, "", CONTEXT)
            self.harness.record(began, records.TestEnded(name, passed=True))
        self.assertEqual(tests.traces.keys(), {"t1", "t3"})
        self.assertIn(bytes.fromhex(CONTEXT[::-1]), tests.traces["t1"])

    def test_unknown(self) -> None:
        """The end of an unknown test, as after a restart, changes nothing."""
        self.harness.record(records.TestEnded("t1", passed=True))
        self.assertEqual(self.harness.written(), [])
