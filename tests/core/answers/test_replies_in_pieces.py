"""Fixed answers in pieces, which the coordinator writes by itself."""

import tracemalloc

from msgspec import structs

from tests.core.answers.test_streamed_replies import AGENT, piece
from tests.core.http.test_chains import FEATURES, ChainCase
from tests.support.builders import (
    URL,
    response,
    start,
    text,
)
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.inbound import (
    MAX_STREAM_PIECE_BYTES,
    STREAM_WINDOW_BYTES,
    STREAM_WINDOW_PIECES,
    StreamAbort,
    StreamAck,
    StreamClosed,
    StreamData,
    StreamEnd,
)
from trafficmock.wire.payloads.answer import Abort, Fulfill

DELAY_MS = 125
DELAY = DELAY_MS / 1000


def in_pieces(content: bytes, sizes: list[int], pause: int = DELAY_MS) -> Fulfill:
    pieces = [(pause if index else 0, size) for index, size in enumerate(sizes)]
    return Fulfill(response(content=content), pieces=pieces)


class PiecesCase(ChainCase):
    """An agent that takes pieces, and a test whose worker stands at a breakpoint."""

    def setUp(self) -> None:
        super().setUp()
        self.agent = self.playbook.agent("streaming", features=AGENT)
        features = sorted((*FEATURES, "stream-mocks"))
        self.worker = self.playbook.worker("1", features=features)
        self.test = self.worker.test("chats")

    def mocks(self, content: bytes, pieces: list[int], pause: int = DELAY_MS) -> list[object]:
        """Register a mock, and let the application ask; give what the agent gets."""
        self.test.route(answers=[in_pieces(content, pieces, pause)])
        self.agent.sends(start("r1", client_id="streaming"))
        return self.told(self.playbook.take())

    def told(self, effects: Effects) -> list[object]:
        """Give what the agent gets; the worker is told of the request, and nothing else."""
        sent = [each for each in effects if isinstance(each, Send)]
        for each in sent:
            if each.to != self.agent.gets(piece(1)).to:
                self.assertIsInstance(
                    each.message, outbound.RequestReplied | outbound.TestUnregistered
                )
        return [each.message for each in sent if each.to == self.agent.gets(piece(1)).to]

    def after(self, seconds: float) -> list[object]:
        self.playbook.wait(seconds)
        return self.told(self.playbook.take())

    def hears(self, message: inbound.Message) -> Effects:
        self.agent.sends(message)
        return self.playbook.take()


class PacedTests(PiecesCase):
    """The pieces of a mock have a delay."""

    def test_one_by_one(self) -> None:
        """The first comes with the head, each other one after the delay, the end with the last."""
        head, first = self.mocks(b"onetwo", [3, 3])
        self.assertEqual(
            head, outbound.DecisionFulfill("r1", structs.replace(response(), url=URL), stream=True)
        )
        self.assertEqual(first, piece(1, b"one"))
        self.assertEqual(self.after(DELAY / 2), [])
        self.assertEqual(self.after(DELAY / 2), [piece(2, b"two"), StreamEnd("r1", 3)])
        self.assertEqual(self.hears(StreamAck("r1", 3)), [])
        self.assertEqual(self.playbook.coordinator.streams.open, {})

    def test_application_closes(self) -> None:
        """Nothing is written to an answer that the application has closed."""
        self.mocks(b"onetwo", [3, 3])
        (recorded,) = self.hears(StreamClosed("r1"))
        self.assertIsInstance(recorded, records.StreamEnded)
        self.assertEqual(self.after(DELAY), [])

    def test_test_ends(self) -> None:
        """A test that ends before the last piece fails."""
        self.mocks(b"onetwo", [3, 3])
        self.worker.sends(inbound.TestUnregister("chats"))
        effects = self.playbook.take()
        self.assertIn(self.agent.gets(StreamAbort("r1", 2, "connectionreset")), effects)
        error = self.sent(effects, outbound.ProxyError)
        self.assertEqual((error.code, error.message), ("disconnected", text("Let the test wait")))
        self.assertEqual(self.after(DELAY), [])


class WholeTests(PiecesCase):
    """The pieces of a mock have no delay."""

    def test_at_once(self) -> None:
        """All pieces come with the head."""
        for pause in (0, 0):
            _, *sent = self.mocks(b"onetwo", [3, 3], pause)
            self.assertEqual(sent, [piece(1, b"one"), piece(2, b"two"), StreamEnd("r1", 3)])
            self.hears(StreamAck("r1", 3))

    def test_large(self) -> None:
        """No more than a window is on its way; the rest follows the acknowledgements."""
        content = b"x" * (STREAM_WINDOW_BYTES + 5)
        _, *sent = self.mocks(content, [len(content) - 1, 1], 0)
        window = STREAM_WINDOW_BYTES // MAX_STREAM_PIECE_BYTES
        self.assertEqual(
            sent, [piece(n + 1, content[:MAX_STREAM_PIECE_BYTES]) for n in range(window)]
        )
        rest = self.told(self.hears(StreamAck("r1", 1)))
        self.assertEqual([type(each) for each in rest], [StreamData, StreamData, StreamEnd])
        self.assertEqual(rest[:2], [piece(window + 1, b"xxxx"), piece(window + 2, b"x")])

    def test_many_pieces(self) -> None:
        """No more than a window of tiny pieces is sent, whatever room their bytes leave."""
        size = 2 * STREAM_WINDOW_PIECES
        told = self.mocks(b"x" * size, [0, *([1] * size), 0], 0)
        self.assertEqual(len(told), 1 + STREAM_WINDOW_PIECES)
        rest = self.told(self.hears(StreamAck("r1", STREAM_WINDOW_PIECES)))
        self.assertEqual(len(rest), STREAM_WINDOW_PIECES + 1)
        self.assertEqual(rest[-1], StreamEnd("r1", size + 1))

    def test_slow_body(self) -> None:
        """A body of millions of pieces costs no more than the next one."""
        slow = Fulfill(response(content=b"x" * 2_000_000), rate=1)
        self.test.route(answers=[slow])
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.agent.sends(start("r1", client_id="streaming"))
        self.assertEqual(self.told(self.playbook.take())[1:], [piece(1, b"x")])
        self.assertLess(tracemalloc.get_traced_memory()[1], 20_000_000)

    def test_what_it_counts_for(self) -> None:
        """Answers and pieces count for the memory that is kept, even without a body."""
        registry = self.playbook.coordinator.state.registry
        self.test.route(answers=[Abort("failed")] * 10)
        self.assertEqual(registry.reply_bytes, 2000)
        self.test.route(answers=[in_pieces(b"xx", [1, 1])])
        self.assertEqual(registry.reply_bytes, 2000 + 2 * 8 + len('"eHg="content-length2'))
