"""WebSockets through the forward proxy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from twisted.internet.address import IPv4Address
from twisted.trial.unittest import SynchronousTestCase
from wsproto.connection import CLIENT, SERVER, Connection
from wsproto.events import BytesMessage, CloseConnection, TextMessage

from tests.proxy.harness import FakeTransport, ForwardProxyHarness, refused
from trafficmock.history.query import Query
from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.http1.heads import parse_request
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.upstream.server_verification import ServerVerification
from trafficmock.proxy.websocket.frame_stream import EVENTS_AT_ONCE
from trafficmock.proxy.websocket.opening_handshake import acceptance

if TYPE_CHECKING:
    from tests.server.fakes import FakeLink

OPEN = (
    b"GET http://api.test/s HTTP/1.1\r\nHost: api.test\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: a, b\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)


class SocketCase(SynchronousTestCase):
    """A client, and a test that may own its WebSocket."""

    def setUp(self) -> None:
        self.rig = ForwardProxyHarness()
        self.page = Connection(CLIENT)
        self.server = Connection(SERVER)

    def owned(self) -> FakeLink:
        """Open a WebSocket that a test owns; the handshake waits for it."""
        self.worker = self.rig.worker("ws://api.test/**", "websocket")
        self.client = self.rig.ask(OPEN)
        (claim,) = self.worker.took("ws:claim")
        self.socket_id = claim["socketId"]
        self.send("ws:claim-result", testId="t", matches=[{"routeId": "r"}])
        self.worker.took("ws:matched")
        self.assertEqual(self.client.took(), b"")
        return self.worker

    def send(self, type_: str, **fields: Any) -> None:
        self.rig.core.say(self.worker, type_, socketId=self.socket_id, **fields)

    def answer(self) -> bytes:
        """Give the head of what the client got, and feed the rest to its parser."""
        head, _, rest = self.client.took().partition(b"\r\n\r\n")
        self.page.receive_data(rest)
        return head

    def got(self, connection: Connection, transport: FakeTransport) -> list[Any]:
        connection.receive_data(transport.took())
        return list(connection.events())


class PassthroughTests(SocketCase):
    """What no test wants."""

    def test_loop(self) -> None:
        """A server that is this very service is 508, before it is asked for TLS."""
        for scheme in (b"http", b"https"):
            self.rig = ForwardProxyHarness()
            self.rig.dialer.trust = ServerVerification()
            self.rig.dialer.peer = IPv4Address("TCP", "127.0.0.1", 4310)
            client = self.rig.ask(OPEN.replace(b"GET http", b"GET " + scheme))
            self.assertIn(b'"error":"loop_detected"', client.took())
            self.assertTrue(self.rig.servers[0].aborted)
            self.assertEqual(self.rig.servers[0].took(), b"")

    def test_relayed(self) -> None:
        """The handshake goes on as it is, extensions included, and then all bytes."""
        self.client = self.rig.ask(OPEN)
        (server,) = self.rig.servers
        sent = parse_request(server.took().removesuffix(b"\r\n\r\n"))
        self.assertEqual(sent.fields[b"sec-websocket-extensions"], b"permessage-deflate")
        self.assertEqual(sent.fields[b"upgrade"], b"websocket")
        server.says(acceptance(b"x", "b").replace(b"\r\n\r\n", b"\r\nX-A: b\r\n\r\nhello"))
        answer = self.client.took()
        self.assertIn(b"101 Switching Protocols", answer)
        self.assertIn(b"X-A: b\r\n", answer)
        self.assertTrue(answer.endswith(b"hello"))
        self.client.says(b"bytes")
        self.assertEqual(server.took(), b"bytes")
        server.lose()
        self.assertTrue(self.client.disconnecting)

    def test_recorded(self) -> None:
        """Frames of both directions and the close are in the history."""
        self.client = self.rig.ask(OPEN)
        (server,) = self.rig.servers
        server.says(acceptance(b"x", "b") + self.server.send(TextMessage("early")))
        self.client.says(self.page.send(BytesMessage(b"\xff")))
        self.client.says(self.page.send(CloseConnection(4001, "bye")))
        (row,) = self.rig.core.history.sockets.query(Query())
        events = json.loads(row.to_json())["events"]
        self.assertEqual(
            [(event["direction"], event.get("data") or event["detail"]) for event in events[:3]],
            [("system", "close page 4001 bye"), ("client", "/w=="), ("server", "early")],
        )

    def test_not_recorded(self) -> None:
        """Where the history keeps no passthrough, nothing listens."""
        self.rig = ForwardProxyHarness(settings=ProxySettings(records_passthrough=False))
        self.client = self.rig.ask(OPEN)
        (server,) = self.rig.servers
        server.says(acceptance(b"x", "b") + self.server.send(TextMessage("early")))
        (row,) = self.rig.core.history.sockets.query(Query())
        self.assertNotIn(b"early", row.to_json())

    def test_refused_by_server(self) -> None:
        """A server that refuses is heard."""
        self.client = self.rig.ask(OPEN)
        self.rig.servers[0].says(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")
        answer = self.client.took()
        self.assertIn(b"403 No", answer)
        self.assertTrue(answer.endswith(b"\r\n\r\nno"))

    def test_no_server(self) -> None:
        """A server that is not there is 502."""
        self.rig.dialer.error = refused()
        self.assertIn(b"upstream_unreachable", self.rig.ask(OPEN).took())
        (row,) = self.rig.core.history.sockets.query(Query())
        self.assertIn(b"upstream_unreachable", row.to_json())

    def test_client_gone(self) -> None:
        """A client that leaves takes the server's side along."""
        self.client = self.rig.ask(OPEN)
        self.client.lose()
        self.assertTrue(self.rig.servers[0].aborted)


class MockTests(SocketCase):
    """Without a server."""

    def test_mocked(self) -> None:
        """The first subprotocol, no extension, frames both ways, and both closes told."""
        worker = self.owned()
        self.send("ws:ensureOpened")
        answer = self.answer()
        self.assertIn(b"sec-websocket-protocol: a", answer)
        self.assertNotIn(b"extensions", answer)
        self.client.says(self.page.send(TextMessage("hi")))
        self.client.says(self.page.send(BytesMessage(b"\xff")))
        text, data = worker.took("ws:messageFromPage", "ws:messageFromPage")
        self.assertEqual((text["data"], data["data"], data["isBase64"]), ("hi", "/w==", True))
        self.send("ws:sendToPage", data="ho", isBase64=False)
        self.assertEqual(self.got(self.page, self.client)[0].data, "ho")
        self.client.says(self.page.send(CloseConnection(4001, "bye")))
        (close,) = worker.took("ws:closePage")
        self.assertEqual((close["code"], close["reason"], close["wasClean"]), (4001, "bye", True))
        self.assertEqual(self.rig.dialer.asked, [])

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
        self.client.says(self.page.send(goodbye.response()))
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
        self.rig.core.driver.link_closed(worker)
        self.assertIn(b'"error":"disconnected"', self.client.took())


class ConnectedTests(SocketCase):
    """With the real server behind the test."""

    def connected(self) -> FakeTransport:
        self.owned()
        self.send("ws:connect")
        (server,) = self.rig.servers
        sent = parse_request(server.took().removesuffix(b"\r\n\r\n"))
        self.assertNotIn(b"sec-websocket-extensions", sent.fields)
        server.says(acceptance(sent.fields[b"sec-websocket-key"], "b"))
        self.assertIn(b"sec-websocket-protocol: b", self.answer())
        return server

    def test_both_ways(self) -> None:
        """Frames of both sides go through the test."""
        server = self.connected()
        server.says(self.server.send(TextMessage("from server")))
        (frame,) = self.worker.took("ws:messageFromServer")
        self.assertEqual(frame["data"], "from server")
        self.send("ws:sendToServer", data="to server", isBase64=False)
        self.assertEqual(self.got(self.server, server)[0].data, "to server")

    def test_server_closes(self) -> None:
        """The server's close is told with its code, and once."""
        server = self.connected()
        server.says(self.server.send(CloseConnection(4003, "done")))
        server.lose()
        (close,) = self.worker.took("ws:closeServer")
        self.assertEqual((close["code"], close["wasClean"]), (4003, True))

    def test_left_open(self) -> None:
        """A server that nobody closes when the client has gone is let go after a while."""
        server = self.connected()
        self.client.lose()
        self.worker.took("ws:closePage")
        self.rig.core.clock.advance(5)
        self.assertTrue(server.aborted)

    def test_sent_early(self) -> None:
        """What the handler sends while the server is being reached waits."""
        self.owned()
        self.send("ws:connect")
        self.send("ws:sendToServer", data="early", isBase64=False)
        (server,) = self.rig.servers
        sent = parse_request(server.took().removesuffix(b"\r\n\r\n"))
        server.says(acceptance(sent.fields[b"sec-websocket-key"], None))
        self.assertEqual(self.got(self.server, server)[0].data, "early")

    def test_refused(self) -> None:
        """A server that refuses, or is not there, is told to the test and to the client."""
        self.owned()
        self.send("ws:connect")
        self.rig.servers[0].says(b"HTTP/1.1 403 No\r\n\r\n")
        (close,) = self.worker.took("ws:closeServer")
        self.assertEqual((close["code"], close["wasClean"]), (1006, False))
        self.assertIn(b"403 No", self.client.took())


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
        self.client.says(b"\x82\x80\0\0\0\0" * 10_000)
        self.assertEqual(len(worker.took(*["ws:messageFromPage"] * EVENTS_AT_ONCE)), EVENTS_AT_ONCE)
        self.assertTrue(self.client.paused)
        while self.client.paused:
            self.rig.core.clock.advance(NEXT_TURN_SECONDS)
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
        self.rig.core.driver.link_backlogged(worker)
        self.client.says(self.page.send(TextMessage("hi")))
        self.assertTrue(self.client.paused)
        self.rig.core.driver.link_drained(worker)
        self.rig.core.clock.advance(NEXT_TURN_SECONDS)
        self.assertFalse(self.client.paused)


class TroubleTests(SocketCase):
    """Faults of ours."""

    def test_crashed(self) -> None:
        """A WebSocket that cannot be served is cut rather than left hanging."""
        self.owned()
        (session,) = self.client.protocol._proxy_client.receivers.values()
        session.crashed()
        self.assertTrue(self.client.aborted)
