"""Frames of one side of a WebSocket."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from tests.proxy.websocket.harness import Side


class MessageTests(SynchronousTestCase):
    """Messages in and out."""

    def test_both_ways(self) -> None:
        """Text stays text, bytes stay bytes, in both roles."""
        for client in (False, True):
            side = Side(client)
            side.sends(TextMessage("é"))
            side.sends(BytesMessage(b"\xff"))
            self.assertEqual(side.receiver.received, ["é", b"\xff"])
            side.frames.send("a")
            side.frames.send(b"b")
            self.assertEqual([event.data for event in side.took()], ["a", b"b"])

    def test_fragments(self) -> None:
        """A message in fragments, with a ping between them, is one."""
        side = Side()
        side.sends(TextMessage("a", message_finished=False))
        side.sends(Ping(b"x"))
        side.sends(TextMessage("b"))
        self.assertEqual(side.receiver.received, ["ab"])
        self.assertEqual(side.took(), [Pong(b"x")])

    def test_pings_without_reading(self) -> None:
        """Who pings and takes nothing gets one answer when it reads again: to the latest."""
        side = Side()
        side.transport.producer.pauseProducing()
        for number in range(3):
            side.sends(Ping(b"%d" % number))
        self.assertEqual(side.took(), [])
        side.transport.producer.resumeProducing()
        self.assertEqual(side.took(), [Pong(b"2")])
        side.sends(Ping(b"3"))
        self.assertEqual(side.took(), [Pong(b"3")])

    def test_too_long(self) -> None:
        """A message over the limit, in fragments or not, closes with 1009."""
        side = Side(longest=10)
        side.sends(BytesMessage(b"123456", message_finished=False))
        side.sends(BytesMessage(b"123456"))
        (goodbye,) = side.took()
        self.assertEqual((goodbye.code, side.receiver.received), (1009, [(1009, "", False)]))
        self.assertTrue(side.transport.disconnecting)

    @given(st.binary(max_size=60))
    def test_any_input(self, data: bytes) -> None:
        """No bytes raise anything."""
        side = Side()
        side.frames.data_received(data)
        side.frames.data_received(data)


class CloseTests(SynchronousTestCase):
    """Ends of all kinds, each told once."""

    def test_theirs(self) -> None:
        """A close is answered with the same code and told."""
        side = Side()
        side.sends(CloseConnection(4001, "bye"))
        (echo,) = side.took()
        side.frames.lost()
        self.assertEqual((echo.code, side.receiver.received), (4001, [(4001, "bye", True)]))

    def test_without_code(self) -> None:
        """A close without a code is 1005."""
        side = Side()
        side.frames.data_received(b"\x88\x80\0\0\0\0")
        self.assertEqual(side.receiver.received, [(1005, "", True)])

    def test_ours_answered_with_its_code(self) -> None:
        """The reason of our close is told when an application answers with the code alone."""
        for client, answer, told in (
            (False, (4002, None), (4002, "over", True)),
            (False, (4002, "mine"), (4002, "mine", True)),
            (False, (4003, None), (4003, "", True)),
            (True, (4002, None), (4002, "", True)),
        ):
            side = Side(client)
            side.frames.close(4002, "over")
            side.sends(CloseConnection(*answer))
            self.assertEqual(side.receiver.received, [told])

    def test_ours(self) -> None:
        """Our close is told when it is answered; nothing is sent after it."""
        side = Side()
        side.frames.close(4002, "over")
        side.frames.send("late")
        self.assertFalse(side.frames.open)
        (goodbye,) = side.took()
        self.assertEqual((goodbye.code, goodbye.reason), (4002, "over"))
        side.sends(goodbye.response())
        self.assertEqual(side.receiver.received, [(4002, "over", True)])
        self.assertEqual(side.clock.getDelayedCalls(), [])

    def test_ping_after_ours(self) -> None:
        """A ping between our close and its answer is passed over."""
        side = Side()
        side.frames.close(4002, "over")
        side.sends(Ping(b"x"))
        side.sends(CloseConnection(4002))
        self.assertEqual(side.receiver.received, [(4002, "over", True)])

    def test_unanswered(self) -> None:
        """Who does not answer a close is cut off."""
        side = Side()
        side.frames.close(1000, "")
        side.clock.advance(5)
        self.assertTrue(side.transport.aborted)

    def test_codes(self) -> None:
        """Codes that may not be sent become 1000 (RFC 6455 section 7.4)."""
        for code, sent in ((None, 1000), (1005, 1000), (7, 1000), (3000, 3000)):
            side = Side()
            side.frames.close(code, "é" * 100)
            (goodbye,) = side.took()
            self.assertEqual(goodbye.code, sent, code)

    def test_abnormal(self) -> None:
        """A side whose other side went without a close frame ends without one, and once."""
        side = Side()
        side.frames.send("last words")
        side.frames.close(1006, "")
        (words,) = side.took()
        self.assertEqual(words.data, "last words")
        self.assertTrue(side.transport.disconnecting)
        side.frames.close(1006, "")
        side.frames.lost()
        self.assertEqual(side.receiver.received, [(1006, "", False)])

    def test_lost(self) -> None:
        """A connection that is gone without a close is 1006."""
        side = Side()
        side.frames.lost()
        self.assertEqual(side.receiver.received, [(1006, "", False)])

    def test_breach(self) -> None:
        """What breaks the rules is closed with 1002."""
        side = Side()
        side.frames.data_received(b"\x81\x01a")
        (goodbye,) = side.took()
        self.assertEqual((goodbye.code, side.receiver.received[0][2]), (1002, False))
