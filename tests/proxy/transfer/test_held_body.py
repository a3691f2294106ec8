"""Bodies of requests that are not decided yet."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.framing import Framing, Kind
from trafficmock.proxy.transfer.held_body import EARLY_BYTES, HeldBody
from trafficmock.wire.inbound import RequestBody
from trafficmock.wire.outbound import BodyLimits
from trafficmock.wire.payloads import body


@define
class Sides:
    """The client, and what speaks to the coordinator."""

    limits: BodyLimits | None = field(factory=lambda: BodyLimits(history=4, handler=8))
    sent: list[Any] = field(factory=list)
    holds: list[bool] = field(factory=list)

    def send(self, message: Any) -> None:
        self.sent.append(message)

    def hold_body(self, *, hold: bool) -> None:
        self.holds.append(hold)


class HeldBodyTests(SynchronousTestCase):
    """What is kept, and what is reported."""

    def setUp(self) -> None:
        self.sides = Sides()
        both: Any = self.sides
        self.held = HeldBody("r", both, both, Framing(Kind.CHUNKED))

    def test_announced(self) -> None:
        """A body that goes with the announcement is not reported again."""
        self.held.begin(b"whole")
        self.held.want()
        self.held.report()
        self.assertEqual((self.held.content(), self.sides.sent), (b"whole", []))

    def test_early(self) -> None:
        """Until the request is decided a little of its body is read, and no more."""
        self.held.begin(None)
        self.held.add(b"x" * EARLY_BYTES)
        self.assertEqual(self.sides.holds, [])
        self.held.add(b"y")
        self.assertEqual(self.sides.holds, [True])
        self.held.complete()
        self.assertEqual(self.sides.sent, [])

    def test_wanted(self) -> None:
        """For a test it is read to its end, and reported once."""
        self.held.begin(None)
        self.held.add(b"ab")
        self.held.want()
        self.held.add(b"cd")
        self.assertEqual(self.held.progress(), " 4 bytes of its body came.")
        self.held.complete()
        self.held.report()
        self.assertEqual(self.sides.holds, [False])
        self.assertEqual(self.sides.sent, [RequestBody("r", body.from_bytes(b"abcd"))])
        self.assertEqual(self.held.progress(), "")

    def test_too_large(self) -> None:
        """Above the limit of handlers its size is reported, and no more of it is read."""
        self.held.begin(None)
        self.held.want()
        self.held.add(b"123456789")
        self.held.complete()
        (sent,) = self.sides.sent
        self.assertEqual((sent.body_size, sent.truncated, sent.body_base64), (9, True, body.NULL))
        self.assertEqual(self.sides.holds, [False, True])

    def test_released(self) -> None:
        """On its way to a server nothing is kept."""
        self.held.begin(b"whole")
        self.held.release()
        self.assertEqual(self.held.content(), b"")
