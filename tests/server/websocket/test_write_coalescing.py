"""What is sent while something is handled leaves together."""

from attrs import define
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.websocket.write_coalescing import (
    DEFERRABLE_GAP,
    PROBE_EVERY,
    WriteCoalescer,
)


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
        self.coalescer = WriteCoalescer(self.clock)
        self.queue = Queue()

    def handle(self) -> None:
        with self.coalescer:
            self.coalescer.add(self.queue)

    def become_busy(self) -> None:
        """Handle several things in one turn of the reactor, at a time when it is looked at."""
        for _ in range(PROBE_EVERY + 1):
            self.handle()
        self.clock.advance(0)
        self.queue.flushed = 0

    def test_at_the_end_of_handling(self) -> None:
        """While something is handled nothing is written, then at once, without a timer."""
        with self.coalescer:
            self.coalescer.add(self.queue)
            with self.coalescer:
                pass
            self.assertEqual(self.queue.flushed, 0)
        self.assertEqual((self.queue.flushed, self.clock.getDelayedCalls()), (1, []))

    def test_outside(self) -> None:
        """What is sent while nothing is handled waits for the reactor, once."""
        self.coalescer.add(self.queue)
        self.coalescer.add(self.queue)
        self.assertEqual((self.queue.flushed, len(self.clock.getDelayedCalls())), (0, 1))
        self.clock.advance(0)
        self.assertEqual((self.queue.flushed, self.clock.getDelayedCalls()), (2, []))

    def test_outside_is_not_busy(self) -> None:
        """One thing handled after something was sent outside is still one."""
        self.coalescer.add(self.queue)
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
        with self.assertRaises(KeyError), self.coalescer:
            self.coalescer.add(self.queue)
            raise KeyError
        self.assertEqual(self.queue.flushed, 1)


class NewsTests(SynchronousTestCase):
    """When queues are flushed that only hold what nobody waits for."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1)
        self.coalescer = WriteCoalescer(self.clock)
        self.queues = [Queue(), Queue()]

    def send_deferrable(self) -> None:
        with self.coalescer:
            for queue in self.queues:
                self.coalescer.add_deferrable(queue)

    def flushed(self) -> list[int]:
        return [queue.flushed for queue in self.queues]

    def test_at_once(self) -> None:
        """When little happens, they leave at the end of handling, to all, without a timer."""
        self.send_deferrable()
        self.assertEqual((self.flushed(), self.clock.getDelayedCalls()), ([1, 1], []))

    def test_gap(self) -> None:
        """When much happens, deferrable messages are gathered for the time of the gap."""
        for _ in range(5):
            self.send_deferrable()
        self.assertEqual((self.flushed(), len(self.clock.getDelayedCalls())), ([1, 1], 1))
        self.clock.advance(DEFERRABLE_GAP)
        self.assertEqual((self.flushed(), self.clock.getDelayedCalls()), ([2, 2], []))

    def test_gap_is_over(self) -> None:
        """News leave at once again when the gap has passed."""
        self.send_deferrable()
        self.clock.advance(2 * DEFERRABLE_GAP)
        self.send_deferrable()
        self.assertEqual(self.flushed(), [2, 2])

    def test_others_do_not_wait(self) -> None:
        """What somebody waits for leaves at the end of handling, also within the gap."""
        self.send_deferrable()
        with self.coalescer:
            self.coalescer.add_deferrable(self.queues[0])
            self.coalescer.add(self.queues[0])
        self.assertEqual(self.flushed(), [2, 1])

    def test_outside(self) -> None:
        """News that are told while nothing is handled wait for the reactor."""
        self.coalescer.add_deferrable(self.queues[0])
        self.assertEqual(self.flushed(), [0, 0])
        self.clock.advance(0)
        self.assertEqual(self.flushed(), [1, 0])

    def test_clock_set_back(self) -> None:
        """A clock that was set back delays nothing."""
        self.send_deferrable()
        self.clock.rightNow -= 3600
        self.send_deferrable()
        self.assertEqual(self.flushed(), [2, 2])
