"""The forward proxy: requests of clients, and what is none."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, FakeTransport, ForwardProxyHarness
from trafficmock.http.access import AccessPolicy
from trafficmock.http.http_limits import HttpLimits
from trafficmock.server.site import make_site

HEALTH = b"/health HTTP/1.1\r\nHost: 127.0.0.1:4310\r\n\r\n"


class FrontTests(SynchronousTestCase):
    """One port, three doors."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        websocket: Any = object()
        self.site: Any = make_site(
            history=self.harness.core.history,
            connections=lambda _: {"nodeAgents": [], "runnerWorkers": []},
            ca_pem=lambda: b"",
            websocket=websocket,
            guard=AccessPolicy(),
            version="1.2.3",
            capture="all",
            limits=HttpLimits(),
            reactor=self.harness.core.clock,
            forward=self.harness.proxy,
        )

    def connect(self) -> FakeTransport:
        transport = FakeTransport()
        transport.protocol = self.site.buildProtocol(None)
        transport.protocol.makeConnection(transport)
        return transport

    def test_rest(self) -> None:
        """A path is REST, and the connection lasts."""
        client = self.connect()
        client.sends(b"GET " + HEALTH)
        answer = client.took()
        self.assertIn(b'"ok":true', answer)
        self.assertNotIn(b"connection: close", answer.lower())

    def test_own_url(self) -> None:
        """Our own URL is REST too, once: the client may want other servers next."""
        client = self.connect()
        client.sends(b"GET http://127.0.0.1:4310" + HEALTH)
        answer = client.took()
        self.assertIn(b'"ok":true', answer)
        self.assertIn(b"connection: close", answer.lower())

    def test_own_url_later(self) -> None:
        """It is REST on a connection that went to other servers before."""
        client = self.connect()
        client.sends(GET)
        self.harness.servers[0].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        client.took()
        client.sends(b"GET http://127.0.0.1:4310" + HEALTH)
        self.assertIn(b'"ok":true', client.took())

    def test_counted(self) -> None:
        """Every connection is counted until its end, whoever has it by then."""
        clients = [self.connect() for _ in range(3)]
        self.assertEqual(self.site.connections.open, 3)
        clients[0].sends(GET)
        clients[1].sends(b"GET " + HEALTH)
        for client in clients:
            client.lose()
        self.assertEqual(self.site.connections.open, 0)

    def test_stop(self) -> None:
        """At the end nothing is left of servers and proxy clients."""
        client = self.connect()
        client.sends(GET)
        client.lose()
        self.assertFalse(self.harness.proxy.stop())
        self.assertEqual(self.harness.core.driver.coordinator.clients(), [])

    def test_stop_answers(self) -> None:
        """At the end who waits for a server is answered, whose answer began is not."""
        waiting, begun = self.connect(), self.connect()
        waiting.sends(GET)
        begun.sends(GET)
        self.harness.servers[1].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
        begun.took()
        self.assertTrue(self.harness.proxy.stop())
        self.assertIn(b'{"error":"disconnected"', waiting.took())
        self.assertEqual(begun.took(), b"")
        ends = {entry["events"][-1]["kind"] for entry in self.harness.entries()}
        self.assertEqual(ends, {"upstream_error", "response"})


ASK = b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"


class LineTests(SynchronousTestCase):
    """A request line is not waited for without a bound."""

    def test_long(self) -> None:
        """A request line without an end is refused above the limit of a head."""
        harness = ForwardProxyHarness()
        service: Any = None
        transport = harness.attach(harness.proxy.sniffer(service, lambda: None))
        transport.sends(b"GET http://api.test/" + b"a" * 100_000)
        self.assertIn(b" 431 ", transport.took())


class HeadTests(SynchronousTestCase):
    """One meaning, or a 400."""

    def test_refused(self) -> None:
        """An invalid host, white space in a target, and IPv4 in brackets are refused."""
        for head in (
            b"GET http://api.test/ HTTP/1.1\r\nHost: a b\r\n\r\n",
            b"GET http://api.test/ HTTP/1.1\r\nHost: user@api.test\r\n\r\n",
            b"GET http://api.test/a\tb HTTP/1.1\r\nHost: api.test\r\n\r\n",
            b"GET http://[127.0.0.1]/ HTTP/1.1\r\nHost: api.test\r\n\r\n",
        ):
            harness = ForwardProxyHarness()
            self.assertIn(b" 400 ", harness.ask(head).took(), head)
            self.assertEqual(harness.servers, [])


class ConnectTests(SynchronousTestCase):
    """What comes with a CONNECT."""

    def test_early(self) -> None:
        """A request that came along with its CONNECT is not left lying."""
        harness = ForwardProxyHarness()
        harness.ask(b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test:80\r\n\r\n" + ASK)
        self.assertTrue(harness.servers[0].took().startswith(b"GET /x HTTP/1.1\r\n"))

    def test_ourselves(self) -> None:
        """CONNECT to this very service is refused."""
        client = ForwardProxyHarness().ask(
            b"CONNECT 127.0.0.1:4310 HTTP/1.1\r\nHost: 127.0.0.1:4310\r\n\r\n"
        )
        self.assertIn(b'"error":"loop_detected"', client.took())
