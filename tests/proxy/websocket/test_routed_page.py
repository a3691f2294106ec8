"""The application's side of a WebSocket that a test owns."""

from __future__ import annotations

from typing import Any

from wsproto.events import CloseConnection

from tests.proxy.websocket.harness import SocketCase


class HandshakeTests(SocketCase):
    """The handshake waits for its answer: an acceptance, or a refusal."""

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
