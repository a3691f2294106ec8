"""What is queued to a slow reader, and the limits of a link."""

import sys
from collections.abc import Iterable

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.interfaces import IPullProducer
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from tests.server.fakes import FakeLink
from trafficmock.server.websocket.link import Link, WebSocketLimits
from trafficmock.server.websocket.send_queue import CHUNK_BYTES, SendQueue
from trafficmock.server.websocket.write_coalescing import DEFERRABLE_GAP, WriteCoalescer

LIMITS = WebSocketLimits(send_queue_bytes=1000, high_water=100, low_water=20)


@define(eq=False)
class PullTransport:
    """A consumer that asks for more when the test says that it is empty."""

    written: list[bytes] = field(factory=list)
    producer: SendQueue | None = None

    def registerProducer(self, producer: SendQueue, *, streaming: bool) -> None:
        assert self.producer is None
        assert not streaming
        self.producer = producer
        producer.resumeProducing()

    def unregisterProducer(self) -> None:
        self.producer = None

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def empty(self) -> None:
        """Have everything written, as often as there is more."""
        while self.producer is not None:
            self.producer.resumeProducing()


@define(eq=False)
class QueueHarness:
    """An send_queue, its owner, its transport and its kernel."""

    limits: WebSocketLimits = LIMITS
    direct: bool = True
    room: int = 0
    taken: list[bytes] = field(factory=list)
    events: list[str] = field(factory=list)
    clock: Clock = field(factory=Clock)
    transport: PullTransport = field(factory=PullTransport)
    send_queue: SendQueue = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.send_queue = SendQueue(
            self.transport,
            write=self.write if self.direct else None,
            limits=self.limits,
            coalescer=WriteCoalescer(self.clock),
            owner=self,
        )

    def write(self, pieces: Iterable[bytes | memoryview]) -> int:
        data = b"".join(pieces)[: self.room]
        self.room -= len(data)
        if data:
            self.taken.append(data)
        return len(data)

    def shake_hands(self) -> None:
        """Have the transport show that it is empty."""
        self.send_queue.add((b"hello",))
        self.clock.advance(0)
        self.transport.empty()
        self.transport.written.clear()

    def send_queue_backlogged(self) -> None:
        self.events.append("backlogged")

    def send_queue_drained(self) -> None:
        self.events.append("drained")

    def send_queue_overflowed(self, queued: int) -> None:
        self.events.append(f"overflowed {queued}")


class WritingTests(SynchronousTestCase):
    """The ways to the kernel."""

    def test_interface(self) -> None:
        """It is a producer that is asked."""
        self.assertTrue(verifyObject(IPullProducer, QueueHarness().send_queue))

    def test_first_through_transport(self) -> None:
        """As long as the transport may hold bytes of others, nothing goes past it."""
        harness = QueueHarness(room=100)
        harness.send_queue.add((b"hello",))
        harness.clock.advance(0)
        self.assertEqual((harness.transport.written, harness.taken), ([b"hello"], []))
        self.assertEqual(
            (harness.send_queue.queued_bytes, harness.send_queue.drained_total), (5, 0)
        )
        harness.transport.empty()
        self.assertEqual(
            (harness.send_queue.queued_bytes, harness.send_queue.drained_total), (0, 5)
        )
        self.assertIsNone(harness.transport.producer)

    def test_one_write(self) -> None:
        """What was queued in one turn is one write, past an empty transport."""
        harness = QueueHarness()
        harness.shake_hands()
        harness.room = 100
        harness.send_queue.add((b"a", b"b"))
        harness.send_queue.add((b"c",))
        self.assertEqual(harness.taken, [])
        harness.clock.advance(0)
        self.assertEqual((harness.taken, harness.transport.written), ([b"abc"], []))

    def test_deferred(self) -> None:
        """What nobody waits for leaves with the next frame, in order, and alone after a moment."""
        harness = QueueHarness()
        harness.shake_hands()
        harness.room = 100
        harness.clock.advance(1)
        harness.send_queue.defer((b"first",))
        harness.clock.advance(0)
        harness.send_queue.defer((b"a", b"b"))
        harness.send_queue.defer((b"c",))
        harness.send_queue.add((b"d",))
        harness.send_queue.defer((b"e",))
        harness.clock.advance(0)
        self.assertEqual(harness.taken, [b"first", b"abcde"])
        harness.send_queue.defer((b"f",))
        harness.clock.advance(DEFERRABLE_GAP)
        harness.clock.advance(0)
        self.assertEqual(harness.taken, [b"first", b"abcde", b"f"])
        self.assertEqual(harness.send_queue.queued_bytes, 0)

    def test_deferred_and_cut(self) -> None:
        """What was deferred is not written when the connection is gone."""
        harness = QueueHarness()
        harness.shake_hands()
        harness.room = 100
        harness.send_queue.defer((b"a",))
        harness.send_queue.discard()
        harness.clock.advance(DEFERRABLE_GAP)
        self.assertEqual((harness.taken, harness.send_queue.queued_bytes), ([], 0))

    def test_deferred_too_much(self) -> None:
        """What was deferred counts against the limit as soon as it could be written."""
        harness = QueueHarness()
        harness.shake_hands()
        for _ in range(12):
            harness.send_queue.defer((bytes(99),))
            harness.clock.advance(1)
        self.assertEqual(harness.events, ["backlogged", "overflowed 1089"])

    def test_kernel_full(self) -> None:
        """What the kernel does not take follows through the transport, then past it again."""
        harness = QueueHarness()
        harness.shake_hands()
        harness.room = 2
        harness.send_queue.add((b"abcd",))
        harness.clock.advance(0)
        self.assertEqual((harness.taken, harness.transport.written), ([b"ab"], [b"cd"]))
        harness.send_queue.add((b"ef",))
        harness.room = 100
        harness.transport.empty()
        self.assertEqual((harness.taken, harness.transport.written), ([b"ab", b"ef"], [b"cd"]))

    def test_chunks(self) -> None:
        """A slow reader's progress shows chunk by chunk, in order."""
        harness = QueueHarness(limits=WebSocketLimits(), direct=False)
        payload = bytes(range(256)) * 2048
        harness.send_queue.add((b"head", payload))
        harness.clock.advance(0)
        totals = []
        while harness.transport.producer is not None:
            harness.transport.producer.resumeProducing()
            totals.append(harness.send_queue.drained_total)
        self.assertEqual(totals, [*range(CHUNK_BYTES, len(payload), CHUNK_BYTES), *totals[-2:]][:5])
        self.assertEqual(b"".join(harness.transport.written), b"head" + payload)
        self.assertEqual(totals[-1], len(payload) + 4)

    def test_by_reference(self) -> None:
        """A large payload that goes out at once is not copied."""
        seen: list[bytes | memoryview] = []

        def write(pieces: Iterable[bytes | memoryview]) -> int:
            seen.extend(pieces)
            return sum(map(len, seen))

        harness = QueueHarness(limits=WebSocketLimits())
        harness.shake_hands()
        harness.send_queue._write = write
        payload = bytes(100_000)
        harness.send_queue.add((b"head", payload))
        harness.clock.advance(0)
        self.assertIs(seen[1], payload)

    @given(
        st.lists(st.binary(min_size=1, max_size=40), max_size=12),
        st.lists(st.integers(0, 50), max_size=30),
        st.booleans(),
    )
    def test_any_pace(self, pieces: list[bytes], rooms: list[int], direct: bool) -> None:  # noqa: FBT001 - Hypothesis gives it
        """Whatever the kernel takes and when, the bytes arrive whole and are counted right."""
        limits = WebSocketLimits(high_water=30, low_water=10)
        harness = QueueHarness(limits=limits, direct=direct)
        output: list[bytes] = []
        # One list for both ways keeps the order in which the bytes went out.
        harness.taken = harness.transport.written = output
        for at, piece in enumerate(pieces):
            harness.room = rooms[at] if at < len(rooms) else 0
            harness.send_queue.add((piece,))
            if at % 3:
                harness.clock.advance(0)
            if at % 2 and harness.transport.producer is not None:
                harness.transport.producer.resumeProducing()
        harness.clock.advance(0)
        harness.transport.empty()
        sent = b"".join(pieces)
        self.assertEqual(b"".join(output), sent)
        self.assertEqual(
            (harness.send_queue.queued_bytes, harness.send_queue.drained_total), (0, len(sent))
        )
        self.assertEqual(harness.events, ["backlogged", "drained"] * (len(harness.events) // 2))


class LimitTests(SynchronousTestCase):
    """Water marks and the limit of the queue."""

    def setUp(self) -> None:
        self.harness = QueueHarness()
        self.harness.shake_hands()

    def test_backlogged_at_once(self) -> None:
        """Above the high-water mark the owner hears of it within the call."""
        self.harness.send_queue.add((bytes(100),))
        self.assertEqual(self.harness.events, [])
        self.harness.send_queue.add((b"x",))
        self.harness.send_queue.add((b"x",))
        self.assertEqual(self.harness.events, ["backlogged"])

    def test_not_backlogged(self) -> None:
        """A large message that the kernel takes at once is no backlog."""
        self.harness.room = 1000
        self.harness.send_queue.add((bytes(500),))
        self.assertEqual((self.harness.events, self.harness.send_queue.queued_bytes), ([], 0))

    def test_drained(self) -> None:
        """At the low-water mark the owner hears of it, once for each backlog."""
        self.harness.send_queue.add((bytes(200),))
        self.harness.transport.empty()
        self.harness.send_queue.add((bytes(50),))
        self.harness.clock.advance(0)
        self.harness.transport.empty()
        self.assertEqual(self.harness.events, ["backlogged", "drained"])

    def test_overflow(self) -> None:
        """When more than the limit waits, the next message is refused."""
        for _ in range(11):
            self.harness.send_queue.add((bytes(100),))
        self.assertEqual(self.harness.events, ["backlogged"])
        self.harness.send_queue.add((b"x",))
        self.assertEqual(self.harness.events, ["backlogged", "overflowed 1100"])
        self.assertEqual(self.harness.send_queue.queued_bytes, 1100)

    def test_large_message(self) -> None:
        """One message larger than the limit leaves as much room as there was without it."""
        self.harness.send_queue.add((bytes(5000),))
        for _ in range(11):
            self.harness.send_queue.add((bytes(100),))
        self.assertEqual(self.harness.events, ["backlogged"])
        self.harness.send_queue.add((b"x",))
        self.assertEqual(self.harness.events, ["backlogged", "overflowed 6100"])

    def test_large_messages(self) -> None:
        """Of several large messages one is not counted: the first that has not been taken."""
        send_queue = self.harness.send_queue
        send_queue.add((bytes(5000),))
        send_queue.add((bytes(2000),))
        self.assertEqual(self.harness.events, ["backlogged"])
        self.harness.transport.empty()
        self.assertEqual(
            (send_queue.queued_bytes, self.harness.events), (0, ["backlogged", "drained"])
        )
        send_queue.add((bytes(5000),))
        send_queue.add((bytes(2000),))
        send_queue.add((b"x",))
        self.assertEqual(self.harness.events[2:], ["backlogged", "overflowed 7000"])

    def test_no_limit(self) -> None:
        """With 0 there is neither a mark nor a limit."""
        harness = QueueHarness(limits=WebSocketLimits(send_queue_bytes=0, high_water=0))
        for _ in range(3):
            harness.send_queue.add((bytes(100_000_000),))
        harness.clock.advance(0)
        self.assertEqual(harness.events, [])

    def test_discard(self) -> None:
        """After a cut nothing is kept, taken or reported."""
        self.harness.send_queue.add((bytes(200),))
        self.harness.send_queue.discard()
        self.harness.send_queue.add((bytes(200),))
        self.harness.clock.advance(0)
        self.assertEqual(self.harness.send_queue.queued_bytes, 0)
        self.harness.send_queue.resumeProducing()
        self.assertEqual(len(self.harness.transport.written), 1)
        self.assertEqual(self.harness.events, ["backlogged"])


class LimitsTests(SynchronousTestCase):
    """Sizes of a WebSocket connection."""

    def test_defaults(self) -> None:
        """A message may have 100 MiB, a queue 64 MiB, the end 5 seconds."""
        limits = WebSocketLimits()
        self.assertEqual(limits.max_frame_bytes, 104857600)
        self.assertEqual(limits.send_queue_bytes, 64 * 2**20)
        self.assertEqual(limits.close_timeout, 5.0)

    def test_zero(self) -> None:
        """0 is no limit."""
        limits = WebSocketLimits(max_frame_bytes=0, send_queue_bytes=0, high_water=0)
        self.assertEqual(limits.max_frame_bytes, sys.maxsize)
        self.assertEqual(limits.send_queue_bytes, sys.maxsize)
        self.assertEqual(limits.high_water, sys.maxsize)


class FakeTests(SynchronousTestCase):
    """What a link does is tested with its protocols; the driver's tests use a fake."""

    def test_complete(self) -> None:
        """The fake has every public member of a link but the state of its protocol."""
        members = {name for name in dir(Link) if not name.startswith("_")} - {"takes_messages"}
        self.assertEqual(members - set(dir(FakeLink)), set())
