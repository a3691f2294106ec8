"""WebSockets that no test wants."""

import json

from twisted.internet.address import IPv4Address
from wsproto.events import BytesMessage, CloseConnection, TextMessage

from tests.proxy.harness import ForwardProxyHarness, refused
from tests.proxy.websocket.harness import OPEN, SocketCase
from trafficmock.history.query import Query
from trafficmock.proxy.http1.heads import parse_request
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.upstream.server_verification import ServerVerification
from trafficmock.proxy.websocket.opening_handshake import acceptance
from trafficmock.proxy.websocket.relayed_websocket import FLUSH_SECONDS


class PassthroughTests(SocketCase):
    """What no test wants."""

    def test_loop(self) -> None:
        """A server that is this very service is 508, before it is asked for TLS."""
        for scheme in (b"http", b"https"):
            self.harness = ForwardProxyHarness()
            self.harness.dialer.trust = ServerVerification()
            self.harness.dialer.peer = IPv4Address("TCP", "127.0.0.1", 4310)
            client = self.harness.ask(OPEN.replace(b"GET http", b"GET " + scheme))
            self.assertIn(b'"error":"loop_detected"', client.took())
            self.assertTrue(self.harness.servers[0].aborted)
            self.assertEqual(self.harness.servers[0].took(), b"")

    def test_relayed(self) -> None:
        """The handshake goes on as it is, extensions included, and then all bytes."""
        self.client = self.harness.ask(OPEN)
        (server,) = self.harness.servers
        sent = parse_request(server.took().removesuffix(b"\r\n\r\n"))
        self.assertEqual(sent.fields[b"sec-websocket-extensions"], b"permessage-deflate")
        self.assertEqual(sent.fields[b"upgrade"], b"websocket")
        server.sends(acceptance(b"x", "b").replace(b"\r\n\r\n", b"\r\nX-A: b\r\n\r\nhello"))
        answer = self.client.took()
        self.assertIn(b"101 Switching Protocols", answer)
        self.assertIn(b"X-A: b\r\n", answer)
        self.assertTrue(answer.endswith(b"hello"))
        self.client.sends(b"bytes")
        self.assertEqual(server.took(), b"bytes")
        server.lose()
        self.assertTrue(self.client.disconnecting)

    def test_recorded(self) -> None:
        """Frames of both directions and the close are in the history."""
        self.client = self.harness.ask(OPEN)
        (server,) = self.harness.servers
        server.sends(acceptance(b"x", "b") + self.server.send(TextMessage("early")))
        self.client.sends(self.page.send(BytesMessage(b"\xff")))
        self.client.sends(self.page.send(CloseConnection(4001, "bye")))
        (row,) = self.harness.core.history.sockets.query(Query())
        events = json.loads(row.to_json())["events"]
        self.assertEqual(
            [(event["direction"], event.get("data") or event["detail"]) for event in events[:3]],
            [("system", "close page 4001 bye"), ("client", "/w=="), ("server", "early")],
        )

    def test_not_recorded(self) -> None:
        """Where the history keeps no passthrough, nothing listens."""
        self.harness = ForwardProxyHarness(settings=ProxySettings(records_passthrough=False))
        self.client = self.harness.ask(OPEN)
        (server,) = self.harness.servers
        server.sends(acceptance(b"x", "b") + self.server.send(TextMessage("early")))
        (row,) = self.harness.core.history.sockets.query(Query())
        self.assertNotIn(b"early", row.to_json())

    def test_refused_by_server(self) -> None:
        """A server that refuses is heard."""
        self.client = self.harness.ask(OPEN)
        self.harness.servers[0].sends(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")
        answer = self.client.took()
        self.assertIn(b"403 No", answer)
        self.assertTrue(answer.endswith(b"\r\n\r\nno"))

    def test_no_server(self) -> None:
        """A server that is not there is 502."""
        self.harness.dialer.error = refused()
        self.assertIn(b"upstream_unreachable", self.harness.ask(OPEN).took())
        (row,) = self.harness.core.history.sockets.query(Query())
        self.assertIn(b"upstream_unreachable", row.to_json())

    def test_no_server_for_attached(self) -> None:
        """An attached process is told the error of the network, passed through or connected."""
        self.harness.dialer.error = refused()
        opening = OPEN.replace(b"Host: ", b"Trafficmock-Context: \r\nHost: ")
        self.assertIn(b"trafficmock-failure: ECONNREFUSED ", self.harness.ask(opening).took())
        self.harness = ForwardProxyHarness()
        self.harness.dialer.error = refused()
        self.owned(opening)
        self.send("ws:connect")
        self.assertIn(b"trafficmock-failure: ECONNREFUSED ", self.client.took())

    def test_client_gone(self) -> None:
        """A client that leaves takes the server's side along."""
        self.client = self.harness.ask(OPEN)
        self.client.lose()
        self.assertTrue(self.harness.servers[0].aborted)

    def test_client_gone_behind_its_words(self) -> None:
        """The server gets what its client has sent, if it takes it in half a minute."""
        for takes in (True, False):
            self.client = self.harness.ask(OPEN)
            server = self.harness.servers[-1]
            server.sends(acceptance(b"x", "b"))
            self.client.sends(b"words")
            self.client.lose()
            self.assertTrue(server.took().endswith(b"words"))
            self.assertEqual((server.disconnecting, server.aborted), (True, False))
            if takes:
                server.lose()
            self.harness.core.clock.advance(FLUSH_SECONDS)
            self.assertEqual(server.aborted, not takes)

    def test_order(self) -> None:
        """What the client sends before the server's answer follows the handshake, in order."""
        self.harness.dialer.slow = []
        self.client = self.harness.ask(OPEN + b"one")
        self.client.sends(b"two")
        self.harness.dialer.slow[0].cancel()
        self.assertIn(b"upstream", self.client.took())
        self.harness.dialer.slow = None
        self.client = self.harness.ask(OPEN + b"one")
        (server,) = self.harness.servers
        self.client.sends(b"two")
        self.assertTrue(server.took().endswith(b"\r\n\r\n"))
        server.sends(acceptance(b"x", "b"))
        self.client.sends(b"three")
        self.assertEqual(server.took(), b"onetwothree")

    def test_too_early(self) -> None:
        """Before the server's answer a client may send as much as a head."""
        self.client = self.harness.ask(OPEN)
        self.client.sends(b"a" * 65537)
        self.assertTrue(self.client.aborted)
        self.assertTrue(self.harness.servers[0].aborted)

    def test_no_answer(self) -> None:
        """A server that does not answer the handshake in time is 504."""
        self.client = self.harness.ask(OPEN)
        self.harness.core.clock.pump([60, 60])
        self.assertTrue(self.harness.servers[0].aborted)
        self.assertIn(b" 504 ", self.client.took())

    def test_gone_before_the_decision(self) -> None:
        """For a client that is gone when nobody wants its WebSocket no server is asked."""
        worker = self.harness.worker("ws://api.test/**", "websocket")
        self.client = self.harness.ask(OPEN)
        (claim,) = worker.took("ws:claim")
        self.client.lose()
        self.harness.core.send_message(
            worker, "ws:claim-result", socketId=claim["socketId"], testId="t", matches=[]
        )
        self.assertEqual(self.harness.dialer.asked, [])
