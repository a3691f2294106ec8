"""Frames of one side of a WebSocket."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from wsproto.connection import CLIENT, SERVER, Connection
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from tests.proxy.harness import FakeTransport
from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.websocket.frame_stream import EVENTS_AT_ONCE, FrameStream


@define(eq=False)
class RecordingReceiver:
    """Keeps what is heard."""

    received: list[Any] = field(factory=list)

    def message(self, data: str | bytes) -> None:
        self.received.append(data)

    def closed(self, code: int, reason: str, *, clean: bool) -> None:
        self.received.append((code, reason, clean))

    def pauseProducing(self) -> None:
        """Take it."""

    def resumeProducing(self) -> None:
        """Take it."""

    def stopProducing(self) -> None:
        """Take it."""


@define(eq=False)
class Side:
    """Our side, and the other one."""

    client: bool = False
    longest: int = 1000
    transport: FakeTransport = field(factory=FakeTransport)
    receiver: RecordingReceiver = field(factory=RecordingReceiver)
    clock: Clock = field(factory=Clock)
    frames: FrameStream = field(init=False)
    other: Connection = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.frames = FrameStream(
            self.transport, self.receiver, self.clock, client=self.client, longest=self.longest
        )
        self.other = Connection(SERVER if self.client else CLIENT)

    def sends(self, event: Any) -> None:
        self.frames.data_received(self.other.send(event))

    def took(self) -> list[Any]:
        self.other.receive_data(self.transport.took())
        return list(self.other.events())


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


class TurnTests(SynchronousTestCase):
    """Many frames at once are taken over several turns of the reactor."""

    def setUp(self) -> None:
        self.side = Side()
        self.transport, self.receiver = self.side.transport, self.side.receiver

    def says_much(self, number: int, *more: Any) -> None:
        events = [*(BytesMessage(b"%d" % index) for index in range(number)), *more]
        self.side.frames.data_received(b"".join(map(self.side.other.send, events)))

    def turn(self) -> None:
        self.side.clock.advance(NEXT_TURN_SECONDS)

    def test_bounded(self) -> None:
        """A turn takes so many frames and no more; the transport is read again after the last."""
        self.says_much(2 * EVENTS_AT_ONCE + 1)
        for taken in (1, 2):
            self.assertEqual(len(self.receiver.received), taken * EVENTS_AT_ONCE)
            self.assertTrue(self.transport.paused)
            self.turn()
        self.assertEqual(self.receiver.received, [b"%d" % i for i in range(2 * EVENTS_AT_ONCE + 1)])
        self.assertFalse(self.transport.paused)
        self.assertEqual(self.side.clock.getDelayedCalls(), [])

    def test_fragments_and_pings(self) -> None:
        """Frames that are no whole message count as well."""
        for event in (Ping(b"x"), TextMessage("", message_finished=False)):
            self.setUp()
            self.says_much(0, *[event] * 2 * EVENTS_AT_ONCE)
            self.assertTrue(self.transport.paused)

    def test_more_comes(self) -> None:
        """What a transport still gives while it is paused waits for its turn."""
        self.says_much(EVENTS_AT_ONCE + 1)
        self.says_much(1)
        self.assertEqual(len(self.receiver.received), EVENTS_AT_ONCE)
        self.turn()
        self.assertEqual(self.receiver.received[-2:], [b"%d" % EVENTS_AT_ONCE, b"0"])

    def test_held(self) -> None:
        """While it is held nothing is taken, and the rest when it goes on."""
        self.says_much(EVENTS_AT_ONCE + 1)
        self.side.frames.pause()
        self.turn()
        self.assertEqual(len(self.receiver.received), EVENTS_AT_ONCE + 1)
        self.says_much(1)
        self.assertEqual(len(self.receiver.received), EVENTS_AT_ONCE + 1)
        self.side.frames.resume()
        self.turn()
        self.assertEqual(len(self.receiver.received), EVENTS_AT_ONCE + 2)
        self.assertFalse(self.transport.paused)

    def test_lost(self) -> None:
        """The end of the connection is told after what came before it, also while held."""
        for held in (False, True):
            self.setUp()
            self.says_much(EVENTS_AT_ONCE + 1)
            if held:
                self.side.frames.pause()
            self.side.frames.lost()
            self.turn()
            self.assertEqual(
                self.receiver.received[-2:], [b"%d" % EVENTS_AT_ONCE, (1006, "", False)]
            )
            self.assertEqual(self.side.clock.getDelayedCalls(), [])

    def test_closed(self) -> None:
        """A close among them is the last that is taken."""
        self.says_much(EVENTS_AT_ONCE, CloseConnection(4001, "bye"))
        self.turn()
        self.assertEqual(self.receiver.received[-1], (4001, "bye", True))
        self.assertEqual((self.transport.paused, self.transport.disconnecting), (False, True))
        self.assertEqual(self.side.clock.getDelayedCalls(), [])

    @given(st.lists(st.integers(0, 2), max_size=200), st.integers(1, 700))
    def test_any_pieces(self, kinds: list[int], size: int) -> None:
        """Whatever comes in whatever pieces, all of it is heard in its order."""
        self.setUp()
        events: list[Any] = [
            (TextMessage("é"), BytesMessage(b"b"), Ping(b"p"))[kind] for kind in kinds
        ]
        data = b"".join(map(self.side.other.send, events))
        for at in range(0, len(data), size):
            self.side.frames.data_received(data[at : at + size])
        while self.side.clock.getDelayedCalls():
            self.turn()
        self.assertEqual(self.receiver.received, [("é", b"b")[kind] for kind in kinds if kind < 2])


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
        for code, sent in ((None, 1000), (1005, 1000), (1006, 1000), (7, 1000), (3000, 3000)):
            side = Side()
            side.frames.close(code, "é" * 100)
            (goodbye,) = side.took()
            self.assertEqual(goodbye.code, sent, code)

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
