"""What is sent while something is handled leaves together."""

from attrs import define
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.net.turn import PROBE_EVERY, Turn


@define(eq=False)
class Queue:
    """Counts how often it is flushed."""

    flushed: int = 0

    def flush(self) -> None:
        self.flushed += 1


class TurnTests(SynchronousTestCase):
    """When queues are flushed."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.turn = Turn(self.clock)
        self.queue = Queue()

    def handle(self) -> None:
        with self.turn:
            self.turn.add(self.queue)

    def become_busy(self) -> None:
        """Handle several things in one turn of the reactor, at a time when it is looked at."""
        for _ in range(PROBE_EVERY + 1):
            self.handle()
        self.clock.advance(0)
        self.queue.flushed = 0

    def test_at_the_end_of_handling(self) -> None:
        """While something is handled nothing is written, then at once, without a timer."""
        with self.turn:
            self.turn.add(self.queue)
            with self.turn:
                pass
            self.assertEqual(self.queue.flushed, 0)
        self.assertEqual((self.queue.flushed, self.clock.getDelayedCalls()), (1, []))

    def test_outside(self) -> None:
        """What is sent while nothing is handled waits for the reactor, once."""
        self.turn.add(self.queue)
        self.turn.add(self.queue)
        self.assertEqual((self.queue.flushed, len(self.clock.getDelayedCalls())), (0, 1))
        self.clock.advance(0)
        self.assertEqual((self.queue.flushed, self.clock.getDelayedCalls()), (2, []))

    def test_outside_is_not_busy(self) -> None:
        """One thing handled after something was sent outside is still one."""
        self.turn.add(self.queue)
        self.handle()
        self.clock.advance(0)
        self.handle()
        self.assertEqual((self.queue.flushed, self.clock.getDelayedCalls()), (3, []))

    def test_busy(self) -> None:
        """When the reactor finds several things to handle at a time, all wait for the last."""
        self.become_busy()
        self.handle()
        self.handle()
        self.assertEqual((self.queue.flushed, len(self.clock.getDelayedCalls())), (0, 1))
        self.clock.advance(0)
        self.assertEqual(self.queue.flushed, 2)

    def test_quiet_again(self) -> None:
        """When there is one thing at a time again, it is written at once again."""
        self.become_busy()
        self.handle()
        self.clock.advance(0)
        self.handle()
        self.assertEqual((self.queue.flushed, self.clock.getDelayedCalls()), (2, []))

    def test_error(self) -> None:
        """What was sent before an error still leaves."""
        with self.assertRaises(KeyError), self.turn:
            self.turn.add(self.queue)
            raise KeyError
        self.assertEqual(self.queue.flushed, 1)
