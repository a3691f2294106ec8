"""What waits to be sent, and how the kernel gets it."""

from collections.abc import Iterable

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.interfaces import IPullProducer
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from trafficmock.server.websocket.link import WebSocketLimits
from trafficmock.server.websocket.send_queue import CHUNK_BYTES, SendQueue
from trafficmock.server.websocket.write_coalescing import WriteCoalescer

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
        self.send_queue.add(b"hello")
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
        rig = QueueHarness(room=100)
        rig.send_queue.add(b"hello")
        rig.clock.advance(0)
        self.assertEqual((rig.transport.written, rig.taken), ([b"hello"], []))
        self.assertEqual((rig.send_queue.queued_bytes, rig.send_queue.drained_total), (5, 0))
        rig.transport.empty()
        self.assertEqual((rig.send_queue.queued_bytes, rig.send_queue.drained_total), (0, 5))
        self.assertIsNone(rig.transport.producer)

    def test_one_write(self) -> None:
        """What was queued in one turn is one write, past an empty transport."""
        rig = QueueHarness()
        rig.shake_hands()
        rig.room = 100
        rig.send_queue.add(b"a", b"b")
        rig.send_queue.add(b"c")
        self.assertEqual(rig.taken, [])
        rig.clock.advance(0)
        self.assertEqual((rig.taken, rig.transport.written), ([b"abc"], []))

    def test_kernel_full(self) -> None:
        """What the kernel does not take follows through the transport, then past it again."""
        rig = QueueHarness()
        rig.shake_hands()
        rig.room = 2
        rig.send_queue.add(b"abcd")
        rig.clock.advance(0)
        self.assertEqual((rig.taken, rig.transport.written), ([b"ab"], [b"cd"]))
        rig.send_queue.add(b"ef")
        rig.room = 100
        rig.transport.empty()
        self.assertEqual((rig.taken, rig.transport.written), ([b"ab", b"ef"], [b"cd"]))

    def test_chunks(self) -> None:
        """A slow reader's progress shows chunk by chunk, in order."""
        rig = QueueHarness(limits=WebSocketLimits(), direct=False)
        payload = bytes(range(256)) * 2048
        rig.send_queue.add(b"head", payload)
        rig.clock.advance(0)
        totals = []
        while rig.transport.producer is not None:
            rig.transport.producer.resumeProducing()
            totals.append(rig.send_queue.drained_total)
        self.assertEqual(totals, [*range(CHUNK_BYTES, len(payload), CHUNK_BYTES), *totals[-2:]][:5])
        self.assertEqual(b"".join(rig.transport.written), b"head" + payload)
        self.assertEqual(totals[-1], len(payload) + 4)

    def test_by_reference(self) -> None:
        """A large payload that goes out at once is not copied."""
        seen: list[bytes | memoryview] = []

        def write(pieces: Iterable[bytes | memoryview]) -> int:
            seen.extend(pieces)
            return sum(map(len, seen))

        rig = QueueHarness(limits=WebSocketLimits())
        rig.shake_hands()
        rig.send_queue._write = write
        payload = bytes(100_000)
        rig.send_queue.add(b"head", payload)
        rig.clock.advance(0)
        self.assertIs(seen[1], payload)

    @given(
        st.lists(st.binary(min_size=1, max_size=40), max_size=12),
        st.lists(st.integers(0, 50), max_size=30),
        st.booleans(),
    )
    def test_any_pace(self, pieces: list[bytes], rooms: list[int], direct: bool) -> None:  # noqa: FBT001 - Hypothesis gives it
        """Whatever the kernel takes and when, the bytes arrive whole and are counted right."""
        limits = WebSocketLimits(high_water=30, low_water=10)
        rig = QueueHarness(limits=limits, direct=direct)
        output: list[bytes] = []
        # One list for both ways keeps the order in which the bytes went out.
        rig.taken = rig.transport.written = output
        for at, piece in enumerate(pieces):
            rig.room = rooms[at] if at < len(rooms) else 0
            rig.send_queue.add(piece)
            if at % 3:
                rig.clock.advance(0)
            if at % 2 and rig.transport.producer is not None:
                rig.transport.producer.resumeProducing()
        rig.clock.advance(0)
        rig.transport.empty()
        sent = b"".join(pieces)
        self.assertEqual(b"".join(output), sent)
        self.assertEqual(
            (rig.send_queue.queued_bytes, rig.send_queue.drained_total), (0, len(sent))
        )
        self.assertEqual(rig.events, ["backlogged", "drained"] * (len(rig.events) // 2))


class LimitTests(SynchronousTestCase):
    """Water marks and the limit of the queue."""

    def setUp(self) -> None:
        self.rig = QueueHarness()
        self.rig.shake_hands()

    def test_backlogged_at_once(self) -> None:
        """Above the high-water mark the owner hears of it within the call."""
        self.rig.send_queue.add(bytes(100))
        self.assertEqual(self.rig.events, [])
        self.rig.send_queue.add(b"x")
        self.rig.send_queue.add(b"x")
        self.assertEqual(self.rig.events, ["backlogged"])

    def test_not_backlogged(self) -> None:
        """A large message that the kernel takes at once is no backlog."""
        self.rig.room = 1000
        self.rig.send_queue.add(bytes(500))
        self.assertEqual((self.rig.events, self.rig.send_queue.queued_bytes), ([], 0))

    def test_drained(self) -> None:
        """At the low-water mark the owner hears of it, once for each backlog."""
        self.rig.send_queue.add(bytes(200))
        self.rig.transport.empty()
        self.rig.send_queue.add(bytes(50))
        self.rig.clock.advance(0)
        self.rig.transport.empty()
        self.assertEqual(self.rig.events, ["backlogged", "drained"])

    def test_overflow(self) -> None:
        """When more than the limit waits, the next message is refused."""
        for _ in range(11):
            self.rig.send_queue.add(bytes(100))
        self.assertEqual(self.rig.events, ["backlogged"])
        self.rig.send_queue.add(b"x")
        self.assertEqual(self.rig.events, ["backlogged", "overflowed 1100"])
        self.assertEqual(self.rig.send_queue.queued_bytes, 1100)

    def test_large_message(self) -> None:
        """One message larger than the limit leaves as much room as there was without it."""
        self.rig.send_queue.add(bytes(5000))
        for _ in range(11):
            self.rig.send_queue.add(bytes(100))
        self.assertEqual(self.rig.events, ["backlogged"])
        self.rig.send_queue.add(b"x")
        self.assertEqual(self.rig.events, ["backlogged", "overflowed 6100"])

    def test_large_messages(self) -> None:
        """Of several large messages one is not counted: the first that has not been taken."""
        send_queue = self.rig.send_queue
        send_queue.add(bytes(5000))
        send_queue.add(bytes(2000))
        self.assertEqual(self.rig.events, ["backlogged"])
        self.rig.transport.empty()
        self.assertEqual((send_queue.queued_bytes, self.rig.events), (0, ["backlogged", "drained"]))
        send_queue.add(bytes(5000))
        send_queue.add(bytes(2000))
        send_queue.add(b"x")
        self.assertEqual(self.rig.events[2:], ["backlogged", "overflowed 7000"])

    def test_no_limit(self) -> None:
        """With 0 there is neither a mark nor a limit."""
        rig = QueueHarness(limits=WebSocketLimits(send_queue_bytes=0, high_water=0))
        for _ in range(3):
            rig.send_queue.add(bytes(100_000_000))
        rig.clock.advance(0)
        self.assertEqual(rig.events, [])

    def test_discard(self) -> None:
        """After a cut nothing is kept, taken or reported."""
        self.rig.send_queue.add(bytes(200))
        self.rig.send_queue.discard()
        self.rig.send_queue.add(bytes(200))
        self.rig.clock.advance(0)
        self.assertEqual(self.rig.send_queue.queued_bytes, 0)
        self.rig.send_queue.resumeProducing()
        self.assertEqual(len(self.rig.transport.written), 1)
        self.assertEqual(self.rig.events, ["backlogged"])
