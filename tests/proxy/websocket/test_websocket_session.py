"""WebSockets that tests own."""

from __future__ import annotations

from wsproto.events import BytesMessage, CloseConnection, TextMessage

from tests.proxy.websocket.harness import SocketCase


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


class TroubleTests(SocketCase):
    """Faults of ours."""

    def test_crashed(self) -> None:
        """A WebSocket that cannot be served is cut rather than left hanging."""
        self.owned()
        (session,) = self.client.protocol._proxy_client.receivers.values()
        session.crashed()
        self.assertTrue(self.client.aborted)
