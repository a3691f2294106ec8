"""Requests on their way to servers, and answers on their way back."""

from typing import Any

from OpenSSL import SSL
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionLost
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, FakeTransport, ForwardProxyHarness
from trafficmock.http.hosts import Authority
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.server_protocols import Accepted
from trafficmock.proxy.upstream.tied_upstream import RESET_SECONDS
from trafficmock.wire import outbound
from trafficmock.wire.payloads.answer import BodyWay

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"POST http://api.test/ HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n"
OLD = b"GET http://api.test/ HTTP/1.0\r\n\r\n"


class Trust:
    """Trusts every server.

    :param asked: whether they ask for a client certificate.
    """

    def __init__(self, *, asked: bool = False) -> None:
        self._asked = asked

    def asks_for_certificate(self, _: Origin) -> bool:
        return self._asked

    def check_name(self, *_: Any) -> None:
        """Find nothing wrong."""


class AnswerTests(SynchronousTestCase):
    """Framings of answers."""

    def test_unknown_length(self) -> None:
        """What ends with the connection is chunked for the client, event by event."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\n\r\n")
        self.assertIn(b"transfer-encoding: chunked\r\n", client.took())
        harness.servers[0].sends(b"event 1")
        self.assertEqual(client.took(), b"7\r\nevent 1\r\n")
        harness.servers[0].lose()
        self.assertEqual(client.took(), b"0\r\n\r\n")
        self.assertFalse(client.disconnecting)

    def test_http_2(self) -> None:
        """A server that answers by HTTP/2 is remembered; the error says what to do."""
        settings = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64"
        for scheme in ("http", "https"):
            harness = ForwardProxyHarness()
            harness.dialer.trust = Trust()
            client = harness.ask(GET.replace(b"http:", scheme.encode() + b":"))
            if scheme == "https":
                harness.servers[0].protocol.handshakeCompleted()
            harness.servers[0].sends(settings)
            answer = client.took()
            self.assertIn(b"its answer is not HTTP (it speaks HTTP/2)", answer)
            self.assertEqual(b"--tunnel HOST" in answer, scheme == "https")
            known = harness.resources.protocols.known(Authority("api.test", 443))
            self.assertEqual(known is Accepted.OTHERS, scheme == "https")

    def test_no_protocol(self) -> None:
        """So is one that refuses HTTP/1.1 within TLS, and the connection is not kept."""
        harness = ForwardProxyHarness()
        harness.dialer.error = SSL.Error([("SSL routines", "", "alert no application protocol")])
        client = harness.ask(GET.replace(b"http:", b"https:"))
        self.assertIn(b"It accepts no HTTP/1.1", client.took())
        self.assertTrue(client.disconnecting)
        known = harness.resources.protocols.known(Authority("api.test", 443))
        self.assertIs(known, Accepted.OTHERS)

    def test_client_certificate(self) -> None:
        """A server that asks for a certificate is remembered, if a request without one fails."""
        alert = SSL.Error([("SSL routines", "", "tlsv13 alert certificate required")])
        refused = b"HTTP/1.1 400 No required SSL certificate was sent\r\nContent-Length: 0\r\n\r\n"
        for asked in (False, True):
            for end in (alert, ConnectionLost(), refused, OK):
                harness = ForwardProxyHarness()
                harness.dialer.trust = Trust(asked=asked)
                client = harness.ask(GET.replace(b"http:", b"https:"))
                server = harness.servers[0]
                server.protocol.handshakeCompleted()
                if isinstance(end, bytes):
                    server.sends(end)
                else:
                    server.lose(end)
                answer, is_known = client.took(), asked and end is not OK
                known = harness.resources.protocols.known(Authority("api.test", 443))
                self.assertIs(known, Accepted.CERTIFIED if is_known else None)
                self.assertEqual(b"--tunnel HOST" in answer, end is alert)
                if isinstance(end, bytes):
                    self.assertEqual(client.disconnecting, is_known)

    def test_old_client(self) -> None:
        """A client of HTTP/1.0 gets no chunks but the end of the connection."""
        harness = ForwardProxyHarness()
        client = harness.ask(OLD)
        harness.servers[0].sends(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
        )
        harness.servers[0].sends(b"0\r\n\r\n")
        self.assertTrue(client.took().endswith(b"connection: close\r\n\r\nok"))
        self.assertTrue(client.disconnecting)

    def test_trailers(self) -> None:
        """Trailers follow the last chunk, for a client that has chunks."""
        for request, end in ((GET, b"0\r\nX-Sum: 7\r\n\r\n"), (OLD, b"ok")):
            harness = ForwardProxyHarness()
            client = harness.ask(request)
            harness.servers[0].sends(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                b"2\r\nok\r\n0\r\nX-Sum: 7\r\nContent-Length: 1\r\n\r\n"
            )
            received = client.took()
            self.assertTrue(received.endswith(end), received)
            self.assertIn(b"\r\nTrailer: X-Sum\r\n", received)

    def test_interim(self) -> None:
        """1xx answers are passed on, to clients that know them."""
        for request, passed in ((GET, True), (OLD, False)):
            harness = ForwardProxyHarness()
            client = harness.ask(request)
            harness.servers[0].sends(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
            self.assertEqual(b"103 Early Hints" in client.took(), passed)
            harness.servers[0].sends(OK)
            self.assertIn(b"200 OK", client.took())

    def test_pace(self) -> None:
        """A server whose answer goes on is held back by the client from its first pause."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123")
        client.producer.pauseProducing()
        self.assertTrue(harness.servers[0].paused)
        client.producer.resumeProducing()
        self.assertFalse(harness.servers[0].paused)
        harness.servers[0].sends(b"456789")
        self.assertIsNone(client.producer)

    def test_shown_at_once(self) -> None:
        """The history shows an answer that goes on, and the rest at its end."""
        harness = ForwardProxyHarness()
        harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        response = harness.entry()["outcome"]["response"]
        self.assertEqual((response["status"], response["bodyPending"]), (200, True))
        harness.servers[0].sends(b"cd")
        self.assertEqual(harness.entry()["outcome"]["response"]["bodyBase64"], "YWJjZA==")

    def test_broken_off(self) -> None:
        """An answer that breaks off ends the connection, and both are in the history."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        harness.servers[0].lose()
        self.assertTrue(client.disconnecting)
        self.assertEqual(harness.entry()["outcome"]["response"]["bodyBase64"], "aGFsZg==")
        self.assertEqual(harness.events()[-1][0], "upstream_error")

    def test_reset(self) -> None:
        """One that ends by a reset is reset, once the client can have read what came."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        harness.servers[0].lose(ConnectionLost())
        self.assertFalse(client.aborted)
        harness.core.clock.advance(1)
        self.assertTrue(client.aborted)

    def test_not_noticeable(self) -> None:
        """Where the end of the connection would look like the end of the answer it is reset."""
        harness = ForwardProxyHarness()
        client = harness.ask(OLD)
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        harness.servers[0].lose(ConnectionLost())
        harness.core.clock.advance(1)
        self.assertTrue(client.aborted)


class UploadTests(SynchronousTestCase):
    """Bodies on their way to a server."""

    def test_chunks(self) -> None:
        """Chunks stay chunks."""
        harness = ForwardProxyHarness()
        client = harness.ask(CHUNKED)
        client.sends(b"3\r\nabc\r\n")
        self.assertTrue(harness.servers[0].took().endswith(b"chunked\r\n\r\n3\r\nabc\r\n"))
        client.sends(b"0\r\n\r\n")
        self.assertEqual(harness.servers[0].took(), b"0\r\n\r\n")

    def test_pace(self) -> None:
        """A client is held back by a server that does not take more."""
        harness = ForwardProxyHarness()
        client = harness.ask(CHUNKED)
        harness.servers[0].producer.pauseProducing()
        self.assertTrue(client.paused)
        harness.servers[0].producer.resumeProducing()
        self.assertFalse(client.paused)

    def test_no_server_yet(self) -> None:
        """Until there is a connection the body waits at the client's."""
        harness = ForwardProxyHarness()
        harness.dialer.slow = []
        client = harness.ask(CHUNKED)
        client.sends(b"3\r\nabc\r\n")
        self.assertTrue(client.paused)

    def test_early_answer(self) -> None:
        """A server may answer before it has all; then both connections end."""
        harness = ForwardProxyHarness()
        client = harness.ask(CHUNKED)
        harness.servers[0].sends(b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n")
        self.assertIn(b"413 No", client.took())
        self.assertTrue(harness.servers[0].disconnecting)
        harness.core.clock.advance(2)
        self.assertTrue(client.aborted)


class BrokenAnswerTests(SynchronousTestCase):
    """Real answers that break on their way back, before the server has ended them."""

    HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

    def asked(self, way: BodyWay) -> FakeTransport:
        """Let a client ask, and a test continue its request; the server has sent the head."""
        self.harness = ForwardProxyHarness()
        worker = self.harness.worker()
        client = self.harness.ask(GET)
        (matched,) = [each for each in worker.sent if each["type"] == "request:matched"]
        clients = self.harness.proxy.resources.proxy_clients
        assert clients is not None
        clients.enter("proxy").deliver(outbound.DecisionContinue(matched["requestId"], way=way))
        self.harness.servers[0].sends(self.HEAD)
        return client

    def test_at_once(self) -> None:
        """A fault after no byte comes with the head."""
        client = self.asked(BodyWay("truncated", 0))
        self.assertTrue(client.took().endswith(b"\r\n\r\n"))
        self.assertTrue(client.disconnecting)
        self.assertTrue(self.harness.servers[0].aborted)

    def test_within(self) -> None:
        """A fault after some bytes waits for them, and for no more."""
        client = self.asked(BodyWay("truncated", 5))
        self.assertTrue(client.took().endswith(b"\r\n\r\n"))
        self.harness.servers[0].sends(b"123")
        self.assertEqual((client.took(), client.disconnecting), (b"123", False))
        self.harness.servers[0].sends(b"4567")
        self.assertEqual((client.took(), client.disconnecting), (b"45", True))
        self.assertTrue(self.harness.servers[0].aborted)

    def test_reset(self) -> None:
        """A reset comes when the part before it is sent; a stall, never."""
        client = self.asked(BodyWay("connection_reset", 3))
        self.harness.servers[0].sends(b"1234")
        self.assertFalse(client.aborted)
        self.harness.core.clock.advance(RESET_SECONDS)
        self.assertTrue(client.aborted)
        client = self.asked(BodyWay("stall", 3))
        self.harness.servers[0].sends(b"1234")
        self.harness.core.clock.advance(60)
        self.assertEqual((client.aborted, client.disconnecting), (False, False))
        self.assertTrue(client.took().endswith(b"123"))
        client.lose()


class RetryTests(SynchronousTestCase):
    """Connections that a server closes just then."""

    def test_again(self) -> None:
        """What can be repeated is sent again over a new connection, once."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(OK)
        client.took()
        client.sends(GET)
        harness.servers[0].lose()
        harness.servers[1].sends(OK)
        self.assertIn(b"200 OK", client.took())

    def test_not_again(self) -> None:
        """What failed on a new connection, or cannot be repeated, fails."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].lose()
        self.assertIn(b"upstream_closed", client.took())
        self.assertEqual(len(harness.servers), 1)


class LimitTests(SynchronousTestCase):
    """Servers that are slow, or ourselves."""

    def test_slow(self) -> None:
        """A server that does not begin its answer in time is 504."""
        harness = ForwardProxyHarness(ProxySettings(response_seconds=5.0))
        client = harness.ask(GET)
        harness.core.clock.advance(5)
        self.assertIn(b"504 Gateway Timeout", client.took())
        self.assertTrue(harness.servers[0].aborted)
        self.assertEqual(harness.events()[-1][0], "upstream_error")

    def test_loop(self) -> None:
        """A server that is this very proxy is 508."""
        harness = ForwardProxyHarness()
        harness.dialer.peer = IPv4Address("TCP", "127.0.0.1", 4310)
        client = harness.ask(GET)
        self.assertIn(b"508 Loop Detected", client.took())

    def test_loop_with_tls(self) -> None:
        """A server that is this very proxy is 508 before it is asked for TLS."""
        harness = ForwardProxyHarness()
        harness.dialer.trust = Trust()
        harness.dialer.peer = IPv4Address("TCP", "127.0.0.1", 4310)
        client = harness.ask(
            b"GET https://127.0.0.1:4310/ HTTP/1.1\r\nHost: 127.0.0.1:4310\r\n\r\n"
        )
        self.assertIn(b"508 Loop Detected", client.took())
        self.assertTrue(harness.servers[0].aborted)

    def test_gone_while_connecting(self) -> None:
        """A client that leaves ends the connecting too."""
        harness = ForwardProxyHarness()
        harness.dialer.slow = []
        client = harness.ask(GET)
        client.lose()
        self.assertTrue(harness.dialer.slow[0].called)
