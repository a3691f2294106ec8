"""The life of a client's connection."""

import itertools

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.downstream.connection_state import State, step


class StepTests(SynchronousTestCase):
    """Which step follows which."""

    def test_requests_in_turn(self) -> None:
        """A head, a body, an answer, and the next head."""
        states = [State.AWAITING_HEAD, State.READING_BODY, State.ANSWERING, State.AWAITING_HEAD]
        for before, after in itertools.pairwise(states):
            self.assertIs(step(before, after), after)

    def test_lost(self) -> None:
        """Every connection may be lost, and nothing follows."""
        for state in State:
            self.assertIs(step(state, State.LOST), State.LOST)
            self.assertIs(step(State.LOST, state), State.LOST)

    def test_end_is_final(self) -> None:
        """A connection that ends reads no further request."""
        for end in (State.HALF_CLOSED, State.CLOSING):
            for reading in (State.AWAITING_HEAD, State.READING_BODY, State.ANSWERING):
                self.assertIs(step(end, reading), end)
