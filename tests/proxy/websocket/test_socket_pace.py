"""Backpressure between the application and a test that owns its WebSocket."""

from __future__ import annotations

from wsproto.events import TextMessage

from tests.proxy.websocket.harness import SocketCase
from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.websocket.event_turns import EVENTS_AT_ONCE


class PaceTests(SocketCase):
    """Who lags behind holds up who sends to it."""

    def test_slow_client(self) -> None:
        """A test that sends more than the client takes is not read until it has."""
        worker = self.owned()
        self.send("ws:ensureOpened")
        self.client.producer.pauseProducing()
        self.send("ws:sendToPage", data="a", isBase64=False)
        self.assertEqual(worker.pauses, 1)
        self.client.producer.resumeProducing()
        self.assertEqual(worker.pauses, 0)

    def test_tiny_frames(self) -> None:
        """A flood of tiny frames leaves others their turn, and loses nothing."""
        worker = self.owned()
        self.send("ws:ensureOpened")
        self.client.sends(b"\x82\x80\0\0\0\0" * 10_000)
        self.assertEqual(len(worker.took(*["ws:messageFromPage"] * EVENTS_AT_ONCE)), EVENTS_AT_ONCE)
        self.assertTrue(self.client.paused)
        while self.client.paused:
            self.harness.core.clock.advance(NEXT_TURN_SECONDS)
            self.assertLessEqual(len(worker.sent), EVENTS_AT_ONCE)
            worker.sent.clear()

    def test_slow_client_gone(self) -> None:
        """A client that goes holds nobody up any more."""
        worker = self.owned()
        self.send("ws:ensureOpened")
        self.client.producer.pauseProducing()
        self.send("ws:sendToPage", data="a", isBase64=False)
        self.client.lose()
        self.assertEqual(worker.pauses, 0)

    def test_slow_test(self) -> None:
        """A client whose test lags behind is not read until that has caught up."""
        worker = self.owned()
        self.send("ws:ensureOpened")
        self.harness.core.driver.link_backlogged(worker)
        self.client.sends(self.page.send(TextMessage("hi")))
        self.assertTrue(self.client.paused)
        self.harness.core.driver.link_drained(worker)
        self.harness.core.clock.advance(NEXT_TURN_SECONDS)
        self.assertFalse(self.client.paused)
