"""The header ``traceparent``."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.trace_parent import TraceParent, read, trace_parent

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class TraceParentTests(SynchronousTestCase):
    """W3C Trace Context, section 3.2."""

    def test_valid(self) -> None:
        """Trace id and span id are read."""
        expected = TraceParent(bytes.fromhex(TRACE), bytes.fromhex(SPAN))
        self.assertEqual(trace_parent({"traceparent": f"00-{TRACE}-{SPAN}-01"}), expected)

    def test_later_version(self) -> None:
        """A later version may have more parts."""
        self.assertIsNotNone(read(f"01-{TRACE}-{SPAN}-00-more"))

    def test_absent(self) -> None:
        """There may be none."""
        self.assertIsNone(trace_parent({}))

    def test_invalid(self) -> None:
        """Zero ids, the version ``ff``, capitals and other texts count as none."""
        for value in (
            f"00-{'0' * 32}-{SPAN}-01",
            f"00-{TRACE}-{'0' * 16}-01",
            f"ff-{TRACE}-{SPAN}-01",
            f"00-{TRACE.upper()}-{SPAN}-01",
            f"00-{TRACE}-{SPAN}",
        ):
            self.assertIsNone(read(value), value)

    @given(st.text())
    def test_any_text(self, value: str) -> None:
        """No text is an error."""
        read(value)
