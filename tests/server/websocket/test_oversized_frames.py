"""A message that is read past keeps its head."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.websocket.oversized_frames import OversizedMessage
from trafficmock.wire.invalid_message import HEAD_BYTES


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
