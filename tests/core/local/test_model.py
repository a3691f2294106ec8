"""The design of local decisions, in all orders of events that a small world has."""

from twisted.trial.unittest import SynchronousTestCase

from tests.core.local.model import WEAKENED, Bounds, Rules, explore
from tests.support.hypothesis_profiles import DEEP

BOUNDS = Bounds(ticks=6, queue=2, losses=1) if DEEP else Bounds(ticks=4, queue=1, losses=1)


class ModelTests(SynchronousTestCase):
    """What is never reached, and what is when a rule is missing."""

    def test_design_holds(self) -> None:
        """No request that begins after the route was acknowledged passes."""
        states, trail = explore(Rules(), BOUNDS)
        self.assertIsNone(trail)
        self.assertGreater(states, 10_000)

    def test_weakened(self) -> None:
        """Each rule is needed: without it, some order of events has such a request."""
        for name, rules in WEAKENED.items():
            _, trail = explore(rules, BOUNDS)
            self.assertIsNotNone(trail, name)
