"""Bodies decoded in slices of time."""

import gzip
from typing import Any

from twisted.internet.defer import CancelledError
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.transfer import body_decoding
from trafficmock.proxy.transfer.body_capture import BodyCapture
from trafficmock.proxy.transfer.body_decoding import Decoders

CODED = [(b"Content-Encoding", b"gzip")]
LONG = b"0" * 4_000_000


def copied(content: bytes, limit: int = 0) -> BodyCapture:
    copy = BodyCapture(limit)
    copy.add(content)
    return copy


class DecodersTests(SynchronousTestCase):
    """Bodies that take long, and others."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.decoders = Decoders(self.clock)

    def plain(self, content: bytes, pairs: Any = CODED, limit: int = 0, **more: Any) -> Any:
        return self.decoders.plain(pairs, copied(content, limit), 0, **more)

    def test_short(self) -> None:
        """A usual body is there at once, its header without the coding."""
        found = self.successResultOf(self.plain(gzip.compress(b"abc")))
        self.assertEqual(found, ([(b"content-length", b"3")], b"abc"))

    def test_as_it_came(self) -> None:
        """What is not coded, cut, broken or missing stays as it is."""
        coded = gzip.compress(b"abc")
        for content, pairs, limit, expected in (
            (b"abc", [], 0, b"abc"),
            (coded, CODED, 5, coded[:5]),
            (b"abc", CODED, 0, b"abc"),
            (b"", CODED, 0, b""),
        ):
            found = self.successResultOf(self.plain(content, pairs, limit))
            self.assertEqual(found, (pairs, expected))
        self.assertEqual(self.successResultOf(self.decoders.plain(CODED, None, 0)), (CODED, b""))

    def test_long(self) -> None:
        """A long decoding goes on in later turns of the reactor, and is counted until its end."""
        coded = gzip.compress(LONG)
        waiting = self.plain(coded)
        self.assertNoResult(waiting)
        self.assertEqual(self.decoders.waiting_bytes, len(coded))
        self.finish()
        self.assertEqual(self.successResultOf(waiting)[1], LONG)
        self.assertEqual(self.decoders.waiting_bytes, 0)

    def test_turns(self) -> None:
        """A turn of the reactor takes one step, however many bodies wait."""
        taken: list[int] = []

        def steps(*_: Any) -> Any:
            for number in range(20):
                taken.append(number)
                yield
            return None

        self.patch(body_decoding, "decoding", steps)
        for _ in range(3):
            self.plain(gzip.compress(LONG))
        before = len(taken)
        for turn in range(1, 6):
            self.clock.advance(1)
            self.assertEqual(len(taken), before + turn)
        self.finish()

    def test_soon(self) -> None:
        """Whoever cannot wait gets a long one as it came."""
        coded = gzip.compress(LONG)
        self.assertEqual(self.successResultOf(self.plain(coded, soon=True)), (CODED, coded))
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_cancelled(self) -> None:
        """A decoding that nobody waits for ends."""
        waiting = self.plain(gzip.compress(LONG))
        waiting.cancel()
        self.failureResultOf(waiting, CancelledError)
        self.assertEqual(self.decoders.waiting_bytes, 0)
        self.finish()

    def test_stopped(self) -> None:
        """When the service stops, everybody has an answer, and no call is left."""
        coded = gzip.compress(LONG)
        before = self.plain(coded)
        self.decoders.stop()
        self.assertEqual(self.successResultOf(before), (CODED, coded))
        self.assertEqual(self.successResultOf(self.plain(coded)), (CODED, coded))
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_busy(self) -> None:
        """It is busy while more waits than the limit."""
        coded = gzip.compress(LONG)
        self.patch(body_decoding, "MOST_WAITING_BYTES", 2 * len(coded))
        self.plain(coded)
        self.assertFalse(self.decoders.busy)
        self.plain(coded)
        self.assertTrue(self.decoders.busy)
        self.finish()
        self.assertFalse(self.decoders.busy)

    def finish(self) -> None:
        while self.clock.getDelayedCalls():
            self.clock.advance(1)
