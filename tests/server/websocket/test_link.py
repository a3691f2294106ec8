"""The limits of a link, and that the fake of the tests has what a link has."""

import sys

from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import FakeLink
from trafficmock.server.websocket.link import Link, WebSocketLimits


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
