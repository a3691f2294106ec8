"""The limits of a link, and that what we give out is a link."""

import sys

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.net.links import Link, LinkHandler, WebSocketLimits
from trafficmock.net.stock_websocket import OpenLink


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

    def test_protocols(self) -> None:
        """Our link has all that a link has, and handlers are told five things."""
        members = {name for name in vars(Link) if not name.startswith("_")} | {"id"}
        self.assertEqual(members - set(dir(OpenLink)), set())
        told = {name for name in vars(LinkHandler) if name.startswith("link_")}
        self.assertEqual(len(told), 5)
