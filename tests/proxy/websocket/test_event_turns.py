"""Many frames at once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage

from tests.proxy.websocket.harness import Side
from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.websocket.event_turns import EVENTS_AT_ONCE


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
