"""The limits of a link."""

import sys

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.websocket.link import WebSocketLimits


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
