"""WebSockets that tests own."""

from __future__ import annotations

from typing import Any

from wsproto.events import BytesMessage, CloseConnection, TextMessage

from tests.proxy.websocket.harness import SocketCase
from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.websocket.event_turns import EVENTS_AT_ONCE


class MockTests(SocketCase):
    """Without a server."""

    def test_mocked(self) -> None:
        """The first subprotocol, no extension, frames both ways, and both closes told."""
        worker = self.owned()
        self.send("ws:ensureOpened")
        answer = self.answer()
        self.assertIn(b"sec-websocket-protocol: a", answer)
        self.assertNotIn(b"extensions", answer)
        self.client.sends(self.page.send(TextMessage("hi")))
        self.client.sends(self.page.send(BytesMessage(b"\xff")))
        text, data = worker.took("ws:messageFromPage", "ws:messageFromPage")
        self.assertEqual((text["data"], data["data"], data["isBase64"]), ("hi", "/w==", True))
        self.send("ws:sendToPage", data="ho", isBase64=False)
        self.assertEqual(self.got(self.page, self.client)[0].data, "ho")
        self.client.sends(self.page.send(CloseConnection(4001, "bye")))
        (close,) = worker.took("ws:closePage")
        self.assertEqual((close["code"], close["reason"], close["wasClean"]), (4001, "bye", True))
        self.assertEqual(self.harness.dialer.asked, [])

    def test_sent_first(self) -> None:
        """A frame of the handler opens it."""
        self.owned()
        self.send("ws:sendToPage", data="aGk=", isBase64=True)
        self.answer()
        frame: Any = next(self.page.events())
        self.assertEqual(frame.data, b"hi")

    def test_closed_by_handler(self) -> None:
        """A close of the handler reaches the client with its code, also while it is held."""
        worker = self.owned()
        self.send("ws:closePage", wasClean=True, code=4002, reason="no")
        self.answer()
        goodbye = next(self.page.events())
        assert isinstance(goodbye, CloseConnection)
        self.assertEqual((goodbye.code, goodbye.reason), (4002, "no"))
        self.client.sends(self.page.send(goodbye.response()))
        worker.took("ws:closePage")

    def test_client_gone(self) -> None:
        """A client that just goes is 1006, held or open."""
        worker = self.owned()
        self.client.lose()
        (close,) = worker.took("ws:closePage")
        self.assertEqual((close["code"], close["wasClean"]), (1006, False))

    def test_owner_lost(self) -> None:
        """When the test's worker goes, a held WebSocket is 502, an open one is closed."""
        worker = self.owned()
        self.harness.core.driver.link_closed(worker)
        self.assertIn(b'"error":"disconnected"', self.client.took())


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


class TroubleTests(SocketCase):
    """Faults of ours."""

    def test_crashed(self) -> None:
        """A WebSocket that cannot be served is cut rather than left hanging."""
        self.owned()
        (session,) = self.client.protocol._proxy_client.receivers.values()
        session.crashed()
        self.assertTrue(self.client.aborted)
