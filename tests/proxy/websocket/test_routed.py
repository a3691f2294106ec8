"""WebSockets that tests own: both sides, and the pace between them."""

from typing import Any

from wsproto.events import BytesMessage, CloseConnection, TextMessage

from tests.proxy.harness import FakeTransport, refused
from tests.proxy.websocket.harness import OPEN, SocketCase
from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.http1.heads import parse_request
from trafficmock.proxy.upstream.server_verification import ServerVerification
from trafficmock.proxy.websocket.event_turns import EVENTS_AT_ONCE
from trafficmock.proxy.websocket.opening_handshake import acceptance


class ConnectedTests(SocketCase):
    """With the real server behind the test."""

    def connected(self) -> FakeTransport:
        self.owned()
        self.send("ws:connect")
        (server,) = self.harness.servers
        sent = parse_request(server.took().removesuffix(b"\r\n\r\n"))
        self.assertNotIn(b"sec-websocket-extensions", sent.fields)
        server.sends(acceptance(sent.fields[b"sec-websocket-key"], "b"))
        self.assertIn(b"sec-websocket-protocol: b", self.answer())
        return server

    def test_both_ways(self) -> None:
        """Frames of both sides go through the test."""
        server = self.connected()
        server.sends(self.server.send(TextMessage("from server")))
        (frame,) = self.worker.took("ws:messageFromServer")
        self.assertEqual(frame["data"], "from server")
        self.send("ws:sendToServer", data="to server", isBase64=False)
        self.assertEqual(self.got(self.server, server)[0].data, "to server")

    def test_server_closes(self) -> None:
        """The server's close is told with its code, and once."""
        server = self.connected()
        server.sends(self.server.send(CloseConnection(4003, "done")))
        server.lose()
        (close,) = self.worker.took("ws:closeServer")
        self.assertEqual((close["code"], close["wasClean"]), (4003, True))

    def test_left_open(self) -> None:
        """A server that nobody closes when the client has gone is let go after a while."""
        server = self.connected()
        self.client.lose()
        self.worker.took("ws:closePage")
        self.harness.core.clock.advance(5)
        self.assertTrue(server.aborted)

    def test_sent_early(self) -> None:
        """What the handler sends while the server is being reached waits."""
        self.owned()
        self.send("ws:connect")
        self.send("ws:sendToServer", data="early", isBase64=False)
        (server,) = self.harness.servers
        sent = parse_request(server.took().removesuffix(b"\r\n\r\n"))
        server.sends(acceptance(sent.fields[b"sec-websocket-key"], None))
        self.assertEqual(self.got(self.server, server)[0].data, "early")

    def test_refused(self) -> None:
        """A server that refuses, or is not there, is told to the test and to the client."""
        self.owned()
        self.send("ws:connect")
        self.harness.servers[0].sends(b"HTTP/1.1 403 No\r\n\r\n")
        (close,) = self.worker.took("ws:closeServer")
        self.assertEqual((close["code"], close["wasClean"]), (1006, False))
        self.assertIn(b"403 No", self.client.took())

    def test_unreachable_after_open(self) -> None:
        """A server that is not there is told though the client's side is open already."""
        self.owned()
        self.send("ws:ensureOpened")
        self.answer()
        self.harness.dialer.error = refused()
        self.send("ws:connect")
        (close,) = self.worker.took("ws:closeServer")
        self.assertEqual((close["code"], close["wasClean"]), (1006, False))
        self.assertIn("refused", close["reason"])
        goodbye: Any = self.got(self.page, self.client)[0]
        self.assertEqual((goodbye.code, "refused" in goodbye.reason), (1011, True))

    def test_closed_while_connecting(self) -> None:
        """A test that closes the server while it is being reached gives up reaching it."""
        self.owned()
        self.harness.dialer.slow = []
        self.send("ws:connect")
        self.send("ws:closeServer", wasClean=True, code=1000)
        (close,) = self.worker.took("ws:closeServer")
        self.assertEqual((close["code"], close["wasClean"]), (1006, False))
        self.assertTrue(self.harness.dialer.slow[0].called)

    def test_client_gone_while_connecting(self) -> None:
        """The server's side is given up a while after the client has gone."""
        self.owned()
        self.send("ws:connect")
        self.client.lose()
        self.worker.took("ws:closePage")
        self.harness.core.clock.advance(5)
        self.assertTrue(self.harness.servers[0].aborted)

    def test_no_tls(self) -> None:
        """A server that does not finish its TLS handshake, or answer, fails in time."""
        for url, seconds in ((b"https", 10), (b"http", 120)):
            self.setUp()
            self.harness.dialer.trust = ServerVerification()
            self.owned(OPEN.replace(b"http:", url + b":"))
            self.send("ws:connect")
            self.harness.core.clock.pump([seconds / 2] * 2)
            self.assertTrue(self.harness.servers[0].aborted)
            (close,) = [each for each in self.worker.sent if each["type"] == "ws:closeServer"]
            self.assertIn("in time", close["reason"])

    def test_slow_test(self) -> None:
        """A server that opens while the test lags behind is not read until it has caught up."""
        self.owned()
        self.send("ws:ensureOpened")
        self.answer()
        self.harness.core.driver.link_backlogged(self.worker)
        self.client.sends(self.page.send(TextMessage("hi")))
        self.send("ws:connect")
        (server,) = self.harness.servers
        sent = parse_request(server.took().removesuffix(b"\r\n\r\n"))
        server.sends(acceptance(sent.fields[b"sec-websocket-key"], None))
        self.assertTrue(server.paused)
        self.harness.core.driver.link_drained(self.worker)
        self.harness.core.clock.advance(NEXT_TURN_SECONDS)
        self.assertFalse(server.paused)


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
