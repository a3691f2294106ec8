"""Real answers that break on their way back, or come at a rate."""

from __future__ import annotations

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.interfaces import IPushProducer
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from trafficmock.proxy.http1.framing import CHUNKED, NONE, BodyKind, Framing
from trafficmock.proxy.transfer.answer_changes import BrokenAnswer, RatedBody
from trafficmock.wire.payloads.answer import BodyWay

TEN = Framing(BodyKind.LENGTH, 10)


class BrokenAnswerTests(SynchronousTestCase):
    """Where an answer breaks."""

    def begun(self, way: BodyWay, framing: Framing) -> tuple[bool, int | None]:
        answer = BrokenAnswer(way)
        return answer.begin(framing), answer.left

    def test_default(self) -> None:
        """Half of a body with a length comes before it is truncated, all of another one."""
        self.assertEqual(self.begun(BodyWay("truncated"), TEN), (True, 5))
        self.assertEqual(self.begun(BodyWay("truncated"), CHUNKED), (True, None))
        self.assertEqual(self.begun(BodyWay("stall", 0), TEN), (True, 0))

    def test_behind_the_end(self) -> None:
        """Behind the end of a body nothing happens, unless it has to be sent in chunks."""
        self.assertFalse(self.begun(BodyWay("stall", 10), TEN)[0])
        self.assertFalse(self.begun(BodyWay("truncated"), NONE)[0])
        self.assertTrue(self.begun(BodyWay("malformed_chunk", 10), TEN)[0])
        self.assertTrue(self.begun(BodyWay("stall", 1000), CHUNKED)[0])

    def test_unanswered(self) -> None:
        """A connection that is closed, or reset at once, has no answer."""
        for way, expected in (
            (BodyWay("empty_response"), True),
            (BodyWay("connection_reset"), True),
            (BodyWay("connection_reset", 0), False),
            (BodyWay("truncated"), False),
        ):
            self.assertEqual(BrokenAnswer(way).is_unanswered, expected, way)

    @given(st.lists(st.binary(max_size=9)), st.integers(0, 40))
    def test_any_pieces(self, pieces: list[bytes], after: int) -> None:
        """However the body comes, the same bytes of it come before the fault."""
        answer = BrokenAnswer(BodyWay("truncated", after))
        answer.begin(CHUNKED)
        whole = b"".join(pieces)
        self.assertEqual(b"".join(map(answer.take, pieces)), whole[:after])
        self.assertIn(f"after {min(after, len(whole))} bytes", answer.error().text)


@implementer(IPushProducer)
@define
class Source:
    """A connection to a server."""

    calls: list[str] = field(factory=list)

    def pauseProducing(self) -> None:
        self.calls.append("pause")

    def resumeProducing(self) -> None:
        self.calls.append("resume")

    def stopProducing(self) -> None:
        self.calls.append("stop")


class RatedBodyTests(SynchronousTestCase):
    """A body at a rate."""

    def setUp(self) -> None:
        self.clock, self.source = Clock(), Source()
        self.written: list[bytes] = []
        self.body = RatedBody(2, 0.05, self.clock, self.written.append, self.source)

    def test_pieces(self) -> None:
        """A piece is written in 50 ms; the server is read when all are written."""
        self.body.data(b"abc")
        self.assertEqual((self.written, self.source.calls), ([b"ab"], ["pause"]))
        self.clock.advance(0.05)
        self.assertEqual((self.written, self.source.calls), ([b"ab", b"c"], ["pause"]))
        self.clock.advance(0.05)
        self.assertEqual(self.source.calls, ["pause", "resume"])

    def test_end(self) -> None:
        """The end follows the last piece."""
        self.body.data(b"abc")
        self.body.end(lambda: self.written.append(b"end"))
        self.clock.pump([0.05, 0.05])
        self.assertEqual(self.written, [b"ab", b"c", b"end"])

    def test_client_pauses(self) -> None:
        """Nothing is written while the client does not read."""
        self.body.data(b"abc")
        self.body.pauseProducing()
        self.clock.advance(1)
        self.assertEqual(self.written, [b"ab"])
        self.body.resumeProducing()
        self.assertEqual(self.written, [b"ab", b"c"])

    def test_stop(self) -> None:
        """Nothing is written to an answer that is over, and no timer is left."""
        self.body.data(b"abc")
        self.body.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_one_byte(self) -> None:
        """At a tiny rate, a byte takes its whole time."""
        body = RatedBody(1, 0.5, self.clock, self.written.append, self.source)
        body.data(b"ab")
        self.clock.advance(0.4)
        self.assertEqual(self.written, [b"a"])
        self.clock.advance(0.1)
        self.assertEqual(self.written, [b"a", b"b"])
        self.clock.advance(1)
