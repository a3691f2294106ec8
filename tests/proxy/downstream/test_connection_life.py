"""The life of a client's connection: its states, half closes and silence."""

import itertools

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.downstream.connection_state import State
from trafficmock.proxy.downstream.half_close import GONE_SECONDS, HalfCloseWatch
from trafficmock.proxy.downstream.idle_timer import IdleTimer


class StateTests(SynchronousTestCase):
    """Which state follows which."""

    def test_requests_in_turn(self) -> None:
        """A head, a body, an answer, and the next head."""
        states = [State.AWAITING_HEAD, State.READING_BODY, State.ANSWERING, State.AWAITING_HEAD]
        for before, after in itertools.pairwise(states):
            self.assertIn(after, before.following)

    def test_lost(self) -> None:
        """Every connection may be lost, and nothing follows."""
        for state in State:
            self.assertNotIn(state, State.LOST.following)
            if state is not State.LOST:
                self.assertIn(State.LOST, state.following)

    def test_end_is_final(self) -> None:
        """A connection that ends reads no further request."""
        for end in (State.HALF_CLOSED, State.CLOSING):
            for reading in (State.AWAITING_HEAD, State.READING_BODY, State.ANSWERING):
                self.assertNotIn(reading, end.following)


class WatchTests(SynchronousTestCase):
    """Gone, or only silent."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.gone: list[float] = []
        self.watch = HalfCloseWatch(self.clock, lambda: self.gone.append(self.clock.seconds()))

    def test_gone(self) -> None:
        """Without a byte for it the client counts as gone."""
        self.watch.start()
        self.clock.advance(GONE_SECONDS)
        self.assertEqual(self.gone, [GONE_SECONDS])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_written(self) -> None:
        """Each write gives it the time once more."""
        self.watch.start()
        self.watch.written = True
        self.clock.advance(GONE_SECONDS)
        self.assertEqual(self.gone, [])
        self.clock.advance(GONE_SECONDS)
        self.assertEqual(self.gone, [2 * GONE_SECONDS])

    def test_stopped(self) -> None:
        """Once stopped it leaves no timer, and may be stopped again."""
        self.watch.start()
        self.watch.stop()
        self.watch.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])


class IdleTimerTests(SynchronousTestCase):
    """A timer that begins anew."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.expired: list[float] = []
        self.timer = IdleTimer(self.clock, 60, lambda: self.expired.append(self.clock.seconds()))

    def test_anew(self) -> None:
        """Starting again gives the whole time again, and forgets what came before."""
        self.timer.start()
        self.timer.heard = True
        self.clock.advance(59)
        self.timer.start()
        self.assertFalse(self.timer.heard)
        self.clock.advance(59)
        self.assertEqual(self.expired, [])
        self.clock.advance(1)
        self.assertEqual(self.expired, [119])

    def test_one_call(self) -> None:
        """Requests that follow each other need one call of the clock, and the last one counts."""
        for _ in range(5):
            self.timer.start()
            self.clock.advance(10)
        self.timer.start()
        self.assertEqual(len(self.clock.getDelayedCalls()), 1)
        self.clock.advance(60)
        self.assertEqual(self.expired, [110])

    def test_stopped(self) -> None:
        """Once stopped it leaves no timer, and may be stopped again."""
        self.timer.start()
        self.timer.stop()
        self.timer.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])
