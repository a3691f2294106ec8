"""The wire format, against the implementation of protocol buffers."""

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.otlp import protobuf


class WritingTests(SynchronousTestCase):
    """What is written is what the reference reads."""

    @given(st.text(), st.text() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats())
    def test_attribute(self, key: str, value: str | float) -> None:
        """An attribute of any type and size; lone surrogates become question marks."""
        span = Span()
        span.ParseFromString(protobuf.attribute(9, key, value))
        pair = KeyValue(key=key.encode(errors="replace").decode())
        if isinstance(value, str):
            pair.value.string_value = value.encode(errors="replace").decode()
        elif isinstance(value, bool):
            pair.value.bool_value = value
        elif isinstance(value, int):
            pair.value.int_value = value
        else:
            pair.value.double_value = value
        self.assertEqual(
            span.attributes[0].SerializeToString(), pair.SerializeToString(deterministic=True)
        )

    def test_long_texts(self) -> None:
        """A text at the size where its numbers need two bytes is read back."""
        for size in (*range(100, 140), 16_390):
            span = Span()
            span.ParseFromString(protobuf.attribute(9, "key", "x" * size))
            self.assertEqual(span.attributes[0].value.string_value, "x" * size)

    @given(st.integers(0, 2**64 - 1))
    def test_varint(self, number: int) -> None:
        """A number of any size is read back."""
        ((field, value),) = protobuf.fields(protobuf.number(3, number))
        self.assertEqual((field, value), (3, number))


class ReadingTests(SynchronousTestCase):
    """What a collector answers is outside input."""

    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        """Any bytes are read, or refused by one error."""
        try:
            fields = list(protobuf.fields(data))
        except protobuf.MalformedError:
            return
        self.assertTrue(all(isinstance(number, int) for number, _ in fields))

    def test_message(self) -> None:
        """Each kind of field is read."""
        span = Span(name="GET", start_time_unix_nano=7, flags=1, kind=Span.SPAN_KIND_CLIENT)
        found = dict(protobuf.fields(span.SerializeToString()))
        self.assertEqual(found[5], b"GET")
        self.assertEqual(found[6], 3)
        self.assertEqual(found[7], (7).to_bytes(8, "little"))
        self.assertEqual(found[16], (1).to_bytes(4, "little"))
