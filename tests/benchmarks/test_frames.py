"""Tests for :mod:`benchmarks.generator.frames` and the templates built on it."""

import json
import struct

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from benchmarks.errors import BenchmarkError
from benchmarks.generator.frames import FrameReader, client_frame, client_header, mask
from benchmarks.generator.messages import ID_HOLE, Template, request_id, request_number


def server_frame(payload: bytes, first: int = 0x81) -> bytes:
    if len(payload) < 126:
        return struct.pack("!BB", first, len(payload)) + payload
    if len(payload) < 65536:
        return struct.pack("!BBH", first, 126, len(payload)) + payload
    return struct.pack("!BBQ", first, 127, len(payload)) + payload


class FrameReaderTests(SynchronousTestCase):
    """What comes from a server is cut into whole messages."""

    @given(
        payloads=st.lists(st.one_of(st.binary(max_size=300), st.just(b"x" * 70_000)), max_size=6),
        cuts=st.lists(st.integers(min_value=1, max_value=5000), max_size=40),
    )
    def test_any_cut(self, payloads: list[bytes], cuts: list[int]) -> None:
        """However the network cuts the stream, each message arrives once, whole, in order."""
        stream = b"".join(map(server_frame, payloads))
        reader = FrameReader()
        got: list[bytes] = []
        for cut in cuts:
            got += reader.feed(stream[:cut])
            stream = stream[cut:]
        got += reader.feed(stream)
        self.assertEqual(got, payloads)

    def test_pings_are_passed_over(self) -> None:
        """A WebSocket-level ping is not a message."""
        stream = server_frame(b"", 0x89) + server_frame(b"one")
        self.assertEqual(FrameReader().feed(stream), [b"one"])

    def test_close_ends_the_measurement(self) -> None:
        """A close frame is an error that tells the code and the reason."""
        frame = server_frame(struct.pack("!H", 1008) + b"no", 0x88)
        error = self.assertRaises(BenchmarkError, FrameReader().feed, frame)
        self.assertIn("1008 no", str(error))

    def test_fragments_are_refused(self) -> None:
        """A server that fragments is not measured by mistake."""
        self.assertRaises(BenchmarkError, FrameReader().feed, server_frame(b"x", 0x01))


class ClientFrameTests(SynchronousTestCase):
    """What goes to a server is masked, with a key that is not zero."""

    @given(st.binary(max_size=200))
    def test_mask_twice(self, payload: bytes) -> None:
        """Masking twice gives the payload back, and the key in the header is the one used."""
        frame = client_frame(payload)
        key = client_header(len(payload))[-4:]
        body = frame[len(client_header(len(payload))) :]
        self.assertEqual(bytes(octet ^ key[0] for octet in body), payload)
        self.assertEqual(mask(body), payload)
        self.assertEqual(set(key), {key[0]})
        self.assertNotEqual(key[0], 0)

    def test_header_lengths(self) -> None:
        """The three forms of the payload length begin where RFC 6455 says."""
        lengths = [len(client_header(size)) for size in (125, 126, 65535, 65536)]
        self.assertEqual(lengths, [6, 8, 8, 14])


class TemplateTests(SynchronousTestCase):
    """A template is its message with the id put in."""

    @given(st.integers(min_value=0, max_value=2**40))
    def test_fill(self, number: int) -> None:
        """A filled template is the frame of the whole message, the id in every hole."""
        identifier = request_id(number)
        message = {"requestId": ID_HOLE, "url": f"http://a.test/{ID_HOLE}"}
        whole = {"requestId": identifier, "url": f"http://a.test/{identifier}"}
        text = json.dumps(whole, separators=(",", ":")).encode()
        self.assertEqual(Template(message).frame(mask(identifier.encode())), client_frame(text))
        self.assertEqual(request_number(identifier), number)
