"""Messages from frames, also those that are read past."""

from itertools import pairwise

from autobahn.websocket.protocol import PreparedMessage
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.server.websocket.harness import BINARY, CLOSE, MORE, PING, close_frame, frame
from trafficmock.server.websocket.data_frames import (
    FOREIGN,
    INCOMPLETE,
    MessageReader,
    locate,
    text_frame,
)
from trafficmock.server.websocket.oversized_frames import OversizedMessage
from trafficmock.wire.invalid_message import HEAD_BYTES

LIMIT = 100_000
MESSAGES = st.lists(st.binary(max_size=300) | st.integers(0, 70_000).map(bytes), max_size=4)
MASKS = st.binary(min_size=4, max_size=4)
FOREIGN_FRAMES = [
    frame(b"x", mask=None),
    frame(b"x", rsv=4),
    frame(b"x", fin=False),
    frame(b"x", opcode=MORE),
    frame(b"x", opcode=3),
    frame(b"", opcode=PING),
    close_frame(1000),
    frame(b"", opcode=CLOSE),
    frame(b"x", opcode=11),
    frame(bytes(LIMIT + 1)),
    frame(b"x", length_bytes=2),
    frame(bytes(126), length_bytes=8),
    frame(bytes(65535), length_bytes=8),
]


def read(reader: MessageReader, data: bytes) -> list[bytes]:
    reader.feed(data)
    found = []
    while (message := reader.next()) is not None:
        found.append(message)
    return found


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


class HeaderTests(SynchronousTestCase):
    """The header of what we send."""

    def test_like_autobahn(self) -> None:
        """Our text frames have the headers that Autobahn writes."""
        for length in (0, 1, 125, 126, 65535, 65536, 70_000):
            theirs = PreparedMessage(bytes(length), False, False, True).payloadHybi  # noqa: FBT003
            self.assertEqual(b"".join(text_frame(bytes(length))), theirs)


class LocateTests(SynchronousTestCase):
    """Whether a frame is for us."""

    def test_ours(self) -> None:
        """Whole masked text and binary frames of every length form are for us."""
        for opcode in (1, BINARY):
            for length, mask_at in ((0, 2), (125, 2), (126, 4), (65535, 4), (65536, 10)):
                data = b"?" + frame(bytes(length), opcode=opcode)
                self.assertEqual(locate(data, 1, LIMIT), (1 + mask_at, length))

    def test_foreign(self) -> None:
        """What is faulty, unusual, or too large is not for us."""
        for data in FOREIGN_FRAMES:
            self.assertEqual(locate(data, 0, LIMIT)[1], FOREIGN, data[:20])

    def test_incomplete(self) -> None:
        """A header is waited for as a whole."""
        for length in (0, 126, 65536):
            data = frame(bytes(length))
            for have in range(len(data) - length):
                self.assertEqual(locate(data[:have], 0, LIMIT)[1], INCOMPLETE)


class ReaderTests(SynchronousTestCase):
    """Messages out of bytes."""

    @given(MESSAGES, MASKS, st.lists(st.integers(0), max_size=8))
    def test_any_pieces(self, messages: list[bytes], mask: bytes, cuts: list[int]) -> None:
        """However the bytes come, the messages are the same."""
        reader = MessageReader(LIMIT)
        data = b"".join(frame(message, mask=mask) for message in messages)
        found = [message for piece in pieces(data, cuts) for message in read(reader, piece)]
        self.assertEqual(found, messages)
        self.assertEqual((reader.give_back(), reader.missing), (b"", 0))

    @given(st.binary(max_size=300), MASKS, st.integers(0), st.sampled_from(FOREIGN_FRAMES))
    def test_foreign_untouched(self, message: bytes, mask: bytes, cut: int, other: bytes) -> None:
        """What is not for us comes back as it was, with all behind it."""
        reader = MessageReader(LIMIT)
        found = []
        for piece in pieces(frame(message, mask=mask) + other + b"behind", [cut]):
            found += read(reader, piece)
        self.assertTrue(reader.foreign)
        self.assertEqual((found, reader.give_back()), ([message], other + b"behind"))
        self.assertFalse(reader.foreign)

    @given(st.binary(min_size=1, max_size=300), MASKS, st.lists(st.integers(0), max_size=5))
    def test_half_a_message(self, message: bytes, mask: bytes, cuts: list[int]) -> None:
        """A message that has not come as a whole can be given back, masked as it was."""
        data = frame(message, mask=mask)[:-1]
        reader = MessageReader(LIMIT)
        for piece in pieces(data, cuts):
            self.assertEqual(read(reader, piece), [])
        self.assertEqual(reader.missing, 1)
        self.assertEqual(reader.give_back(), data)
        self.assertEqual((reader.missing, read(reader, frame(b"next"))), (0, [b"next"]))

    @given(st.binary(max_size=400))
    def test_junk(self, data: bytes) -> None:
        """Bytes that are no frames are read as far as they are, and the rest is given back."""
        reader = MessageReader(LIMIT)
        taken = sum(len(message) for message in read(reader, data))
        rest = reader.give_back()
        self.assertTrue(data.endswith(rest))
        self.assertLessEqual(taken + len(rest), len(data))


class OverlongTests(SynchronousTestCase):
    """When the head is whole."""

    def test_in_parts(self) -> None:
        """The head is whole once, and nothing behind it is kept."""
        message = OversizedMessage(10 * HEAD_BYTES, 100)
        self.assertEqual(
            [message.take(bytes(1500)) for _ in range(5)], [False] * 2 + [True] + [False] * 2
        )
        self.assertEqual(len(message.head), HEAD_BYTES)

    def test_short(self) -> None:
        """A message that is shorter than a head is whole at its end."""
        message = OversizedMessage(11, 10)
        self.assertEqual([message.take(b"12345"), message.take(b"678901")], [False, True])
        self.assertEqual(message.head, b"12345678901")
