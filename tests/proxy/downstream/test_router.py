"""Which way requests go."""

from typing import Any

from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import ISSLTransport
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import directlyProvides

from tests.proxy.harness import GET, FakeTransport, ForwardProxyHarness, client_hello
from trafficmock.errors import LocalError
from trafficmock.http.hosts import Authority
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.downstream.connect_sniffing import (
    HTTP_2_ONLY,
    NOT_FOR_THE_PROXY,
    SERVER_HTTP_2_ONLY,
)
from trafficmock.proxy.http1.server_demands import RootSets, ServerDemands
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.upstream.server_protocols import Accepted, ServerProtocols
from trafficmock.proxy.upstream.server_verification import ServerVerification

CONNECT = b"CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n"
PLAIN = b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Certificates:
    """Gives names instead of contexts, unless it cannot."""

    error: Exception | None = None

    def context_for(self, host: str) -> Any:
        if self.error is not None:
            raise self.error
        return f"context of {host}"

    def ca_pem(self) -> bytes:
        return b"-----BEGIN CERTIFICATE-----\nREVS\n-----END CERTIFICATE-----\n"


class Opened(FakeTransport):
    """A transport on which TLS is only noted: what follows comes as if decrypted."""

    tls: Any = None

    def startTLS(self, context: Any, normal: bool) -> None:  # noqa: FBT001 - Twisted's
        assert normal
        self.tls = context


class TokenTests(SynchronousTestCase):
    """Who may come in."""

    def test_required(self) -> None:
        """With a token each request must have it; 407 says how. It never goes upstream."""
        harness = ForwardProxyHarness(ProxySettings(token="s3cret"))
        client = harness.ask(GET)
        answer = client.took()
        self.assertIn(b"407 Proxy Authentication Required", answer)
        self.assertIn(b"proxy-authenticate: Basic", answer)
        known = GET.replace(b"\r\n\r\n", b"\r\nProxy-Authorization: Basic YTpzM2NyZXQ=\r\n\r\n")
        harness.ask(known)
        self.assertNotIn(b"uthorization", harness.servers[0].took())
        self.assertEqual(harness.entry()["clientId"], "a")

    def test_tunnel(self) -> None:
        """CONNECT asks for it likewise."""
        harness = ForwardProxyHarness(ProxySettings(token="s3cret"))
        self.assertIn(b"407", harness.ask(CONNECT).took())


class NoticeTests(SynchronousTestCase):
    """What an attached process tells by a CONNECT."""

    def test_notice(self) -> None:
        """It reaches the core and opens no tunnel; the connection is closed."""
        harness = ForwardProxyHarness(ProxySettings(token="s3cret"))
        worker = harness.core.hello("playwright", workerId="0", features=["context", "strict"])
        context = "1" * 32
        harness.core.send_message(
            worker,
            "test:register",
            testId="t",
            title="T",
            file="",
            workerId="0",
            context=context,
            strict={"allow": []},
        )
        worker.sent.clear()
        told = CONNECT.replace(
            b"\r\n\r\n",
            b"\r\nTrafficmock-Agent: python; pid=7\r\nTrafficmock-Notice: ignored\r\n"
            b"Trafficmock-Context: %s\r\nProxy-Authorization: Basic YTpzM2NyZXQ=\r\n\r\n"
            % context.encode(),
        )
        client = harness.ask(told)
        self.assertEqual(client.took(), b"HTTP/1.1 200 Noted\r\nConnection: close\r\n\r\n")
        self.assertTrue(client.half_closed)
        self.assertEqual(harness.servers, [])
        (error,) = worker.sent
        self.assertIn("CONNECT https://api.test/ went past the proxy", error["message"])


class InsideTests(SynchronousTestCase):
    """Requests behind CONNECT."""

    def tunnel(
        self, harness: ForwardProxyHarness | None = None
    ) -> tuple[ForwardProxyHarness, Opened]:
        harness = harness or ForwardProxyHarness(certificates=Certificates())
        transport = Opened()
        transport.protocol = harness.proxy._client(harness._no_service, harness._count)
        transport.protocol.makeConnection(transport)
        return harness, transport

    def test_tls(self) -> None:
        """TLS is opened with a certificate for the host; requests are https then."""
        _, client = self.tunnel()
        client.sends(CONNECT)
        self.assertEqual(client.took(), ESTABLISHED)
        client.sends(client_hello())
        self.assertEqual(client.tls, "context of api.test")

    def test_end_of_tls(self) -> None:
        """The end of the connection follows that of TLS, for which Java's client waits."""
        _, client = self.tunnel()
        client.sends(CONNECT)
        client.sends(client_hello())
        client.took()
        client.sends(b"no request\r\n\r\n")
        self.assertIn(b"400 Bad Request", client.took())
        self.assertEqual((client.half_closed, client.disconnecting), (True, True))

    def test_over_tls(self) -> None:
        """On an endpoint with TLS a tunnel is refused in words, unless nobody is to read it."""
        api = read_host_pattern("api.*:443")
        for tunnels, expected in (((), b"501 Not Implemented"), ((api,), b"200 Connection")):
            harness = ForwardProxyHarness(
                ProxySettings(tunnels=tunnels), certificates=Certificates()
            )
            client = Opened()
            directlyProvides(client, ISSLTransport)
            client.protocol = harness.proxy._client(harness._no_service, harness._count)
            client.protocol.makeConnection(client)
            client.sends(CONNECT)
            self.assertIn(expected, client.took())
            closed = not tunnels
            self.assertEqual((client.half_closed, client.disconnecting), (closed, closed))

    def test_plain(self) -> None:
        """Plain HTTP in a tunnel is read as such; a mock works there too."""
        harness, client = self.tunnel()
        client.sends(PLAIN)
        client.took()
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n")
        harness.servers[-1].sends(OK)
        self.assertIn(b"200 OK", client.took())
        self.assertEqual(harness.entry()["request"]["url"], "http://api.test/x")

    def test_origins(self) -> None:
        """While a test runs, an attached process is asked where its requests come from.

        One whose tunnel is older has to open another one.
        """
        attached = PLAIN.replace(b"\r\n\r\n", b"\r\nTrafficmock-Agent: python; origins\r\n\r\n")
        lost = b"GET /x HTTP/1.1\r\nHost: api.test\r\nTrafficmock-Context: \r\n"
        told = lost + b"Trafficmock-Origin: e30=\r\n"
        asked, closed = b"trafficmock-origins: wanted\r\n", b"connection: close\r\n"

        def open_tunnel(opening: bytes = attached) -> tuple[Opened, bool]:
            _, client = self.tunnel(harness)
            client.sends(opening)
            return client, asked in client.took().lower()

        def closes(client: Opened, request: bytes) -> bool:
            client.sends(request + b"\r\n")
            for server in harness.servers:
                if server.took():
                    server.sends(OK)
            return closed in client.took().lower()

        harness, _ = self.tunnel()
        (old, was_asked), (left, _) = open_tunnel(), open_tunnel()
        self.assertEqual((was_asked, closes(old, lost)), (False, False))
        worker = harness.core.hello("playwright", workerId="0", features=["context"])
        about = {"testId": "t", "title": "T", "file": "", "workerId": "0", "context": "1" * 32}
        harness.core.send_message(worker, "test:register", **about)
        new, is_asked = open_tunnel()
        self.assertEqual((is_asked, closes(new, told), closes(old, lost)), (True, False, True))
        self.assertFalse(open_tunnel(PLAIN)[1], "it is not attached")
        harness.core.send_message(worker, "test:unregister", testId="t")
        self.assertEqual((open_tunnel()[1], closes(left, lost)), (False, False))

    def test_other_server(self) -> None:
        """A request in a tunnel is for the tunnel's server."""
        _, client = self.tunnel()
        client.sends(PLAIN)
        client.took()
        client.sends(b"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n")
        self.assertIn(b"400 Bad Request", client.took())

    def test_untrusted(self) -> None:
        """A client that breaks off TLS leaves a row that says what to do."""
        harness, client = self.tunnel()
        client.sends(CONNECT)
        client.tls = "open"
        client.protocol._successor._inside(b"", tls=False)
        client.lose(SSL.Error([("SSL routines", "", "tlsv1 alert unknown ca")]))
        kind, detail = harness.events()[-1]
        self.assertEqual(kind, "upstream_error")
        self.assertIn("tlsv1 alert unknown ca", detail or "")

    def test_no_certificate(self) -> None:
        """Where no certificate can be made, the history and the log say why."""
        harness, client = self.tunnel()
        harness.certificates.error = LocalError("the disk is full")
        client.sends(CONNECT)
        logs = self.enterContext(capturedLogs())
        client.sends(client_hello())
        self.assertTrue(client.aborted)
        self.assertIn("the disk is full", harness.events()[-1][1] or "")
        self.assertEqual(len(logs), 1)

    def test_refused(self) -> None:
        """CONNECT with a body, or without a port, is 400."""
        for request in (
            CONNECT.replace(b"\r\n\r\n", b"\r\nContent-Length: 1\r\n\r\n"),
            b"CONNECT api.test HTTP/1.1\r\nHost: api.test\r\n\r\n",
            b"CONNECT http://api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n",
        ):
            self.assertIn(b"400 Bad Request", ForwardProxyHarness().ask(request).took())


class AskedTests(SynchronousTestCase):
    """Whether tests with contexts run."""

    def test_asked(self) -> None:
        """An attached process is told, and no tunnel is opened."""
        harness = ForwardProxyHarness(certificates=Certificates())
        question = asking(b"Trafficmock-Notice: tests").replace(b"python", b"python; origins")
        self.assertNotIn(b"trafficmock-origins", harness.ask(question).took())
        worker = harness.core.hello("playwright", workerId="0", features=["context"])
        about = {"testId": "t", "title": "T", "file": "", "workerId": "0", "context": "1" * 32}
        harness.core.send_message(worker, "test:register", **about)
        answer = harness.ask(question).took()
        self.assertIn(b"200 Noted", answer)
        self.assertIn(b"trafficmock-origins: wanted\r\n", answer)
        self.assertEqual((harness.servers, harness.entries()), ([], []))


class DemandTests(SynchronousTestCase):
    """What an attached process demands of the server, and tunnels that it wants left alone."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness(certificates=Certificates())
        self.harness.dialer.trust = ServerVerification()

    def opened(self, *lines: bytes) -> tuple[Opened, bytes]:
        client = Opened()
        client.protocol = self.harness.proxy._client(self.harness._no_service, lambda: None)
        client.protocol.makeConnection(client)
        client.sends(asking(*lines))
        return client, client.took().lower()

    def test_roots(self) -> None:
        """Roots that are not known are asked for, and kept by their name."""
        name = RootSets().add(b"roots")
        demand = b"Trafficmock-Trust: roots=" + name.encode()
        self.assertIn(b"trafficmock-roots: " + name.encode(), self.opened(demand)[1])
        client, _ = self.opened(b"Trafficmock-Notice: roots", b"Content-Length: 5")
        client.sends(b"ro")
        client.sends(b"ots")
        self.assertIn(b"200 Noted", client.took())
        self.assertNotIn(b"trafficmock-roots", self.opened(demand)[1])

    def test_bad_roots(self) -> None:
        """Without a length, or with too many bytes, they are refused."""
        for line in (b"X: y", b"Content-Length: 3000000", b"Transfer-Encoding: chunked"):
            self.assertIn(b" 400 ", self.opened(b"Trafficmock-Notice: roots", line)[1], line)

    def test_again(self) -> None:
        """Another CONNECT for the same server says what is demanded, before the first request."""
        client, _ = self.opened()
        client.sends(asking(b"Trafficmock-Trust: verify=0"))
        self.assertIn(b"trafficmock-authority", client.took().lower())
        protocol: Any = client.protocol
        protocol._successor._inside(b"", tls=True)
        self.assertEqual(client.tls, "context of api.test")
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n")
        (origin,) = self.harness.dialer.origins
        self.assertEqual(origin.demands, ServerDemands(verifies=False))

    def test_too_late(self) -> None:
        """After the first request it is refused."""
        client, _ = self.opened()
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n")
        self.harness.servers[0].sends(OK)
        client.took()
        client.sends(asking())
        self.assertIn(b" 400 ", client.took())

    def test_another(self) -> None:
        """A CONNECT for another server within a tunnel is refused."""
        client, _ = self.opened()
        client.sends(asking().replace(b"api.test", b"other.test"))
        self.assertIn(b" 400 ", client.took())

    def test_left_alone(self) -> None:
        """It is carried, and told in the history and the log, until a test might mock it."""
        alone = b"Trafficmock-Alone: its client has a client certificate"
        with capturedLogs() as logged:
            client, answer = self.opened(alone)
        self.assertNotIn(b"trafficmock-authority", answer)
        self.assertEqual(len(logged), 1)
        hello = client_hello("http/1.1")
        client.sends(hello)
        self.assertEqual(self.harness.servers[0].took(), hello)
        worker = self.harness.worker("https://other.test/**")
        self.assertFalse(client.disconnecting)
        route = {"testId": "t", "routeId": "r2", "kind": "http"}
        matcher = {"urlGlob": "https://api.test/v1/*", "hasPredicate": False}
        self.harness.core.send_message(worker, "route:register", **route, matcher=matcher)
        self.assertTrue(client.disconnecting)
        self.assertIn(b"trafficmock-authority", self.opened(alone)[1])
        entry = self.harness.entry()
        self.assertEqual((entry["request"]["method"], entry["action"]), ("CONNECT", "passthrough"))
        self.assertIn("client certificate", entry["outcome"]["response"]["statusText"])

    def test_once(self) -> None:
        """One that is read because of a test takes one request: later the test may be over."""
        self.harness.worker("**/other")
        client, answer = self.opened(b"Trafficmock-Alone: its client has a client certificate")
        self.assertIn(b"trafficmock-authority", answer)
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n")
        self.harness.servers[0].sends(OK)
        self.assertIn(b"connection: close", client.took())
        self.assertTrue(client.disconnecting)

    def test_no_longer_watched(self) -> None:
        """A tunnel that has ended is not ended once more."""
        client, _ = self.opened(b"Trafficmock-Alone: why")
        client.lose()
        self.assertEqual(self.harness.core.driver.tunnels._watched, {})

    def test_http_2(self) -> None:
        """What speaks HTTP/2 only is left alone even if a test might mock it."""
        self.harness.worker("**")
        _, answer = self.opened(b"Trafficmock-Alone: " + HTTP_2_ONLY.encode())
        self.assertNotIn(b"trafficmock-authority", answer)

    def test_server_http_2(self) -> None:
        """If the process offers both, the server is asked before the tunnel is open."""
        line = b"Trafficmock-Alone: " + SERVER_HTTP_2_ONLY.encode()
        for accepted in Accepted:
            self.setUp()
            asked: Deferred[Accepted] = Deferred()
            self.patch(ServerProtocols, "ask", lambda *_, asked=asked: asked)
            client, answer = self.opened(line)
            self.assertEqual(answer, b"")
            self.harness.resources.protocols.note(Authority("api.test", 443), accepted)
            asked.callback(accepted)
            left_alone = accepted in NOT_FOR_THE_PROXY
            answer = client.took().lower()
            self.assertEqual(b"trafficmock-authority" not in answer, left_alone)
            self.assertEqual(len(self.harness.servers), left_alone)
            self.assertEqual(b"trafficmock-authority" not in self.opened(line)[1], left_alone)
        self.harness.worker("https://api.test/**")
        self.assertIn(b"trafficmock-authority", self.opened(line)[1])

    def test_server_asks(self) -> None:
        """A server that wants a certificate is reached, whatever the process tells of its own."""
        both = b"Trafficmock-Alone: " + SERVER_HTTP_2_ONLY.encode()
        server = Authority("api.test", 443)
        self.harness.resources.protocols.note(server, Accepted.CERTIFIED)
        for lines in ((), (both,)):
            with capturedLogs() as logged:
                self.assertNotIn(b"trafficmock-authority", self.opened(*lines)[1])
            self.assertEqual(len(logged), not lines)
        self.harness.worker("https://api.test/**")
        client, answer = self.opened()
        self.assertIn(b"trafficmock-authority", answer)
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n")
        self.harness.servers[-1].sends(OK)
        self.assertIn(b"connection: close", client.took())

    def test_server_not_asked(self) -> None:
        """A server that a test might mock, or of --tunnel, is not asked."""
        line = b"Trafficmock-Alone: " + SERVER_HTTP_2_ONLY.encode()
        self.patch(ServerProtocols, "ask", self.fail)
        self.harness.worker("https://api.test/**")
        client, answer = self.opened(line)
        self.assertIn(b"trafficmock-authority", answer)
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n")
        self.harness.servers[0].sends(OK)
        self.assertFalse(client.disconnecting)

    def test_gave_up_waiting(self) -> None:
        """A process that ends its connection meanwhile gets no answer."""
        line = b"Trafficmock-Alone: " + SERVER_HTTP_2_ONLY.encode()
        for end in ("readConnectionLost", "connectionLost"):
            self.setUp()
            asked: Deferred[Accepted] = Deferred()
            self.patch(ServerProtocols, "ask", lambda *_, asked=asked: asked)
            client, _ = self.opened(line)
            if end == "connectionLost":
                client.lose()
            else:
                client.protocol.readConnectionLost()
                self.assertTrue(client.disconnecting)
            asked.callback(Accepted.OTHERS)
            self.assertEqual((client.took(), self.harness.servers), (b"", []))

    def test_refused_late(self) -> None:
        """What is wrong with a CONNECT is said after the server has been asked, too."""
        asked: Deferred[Accepted] = Deferred()
        self.patch(ServerProtocols, "ask", lambda *_: asked)
        line = b"Trafficmock-Alone: " + SERVER_HTTP_2_ONLY.encode()
        client, _ = self.opened(line, b"Trafficmock-Trust: nothing")
        asked.callback(Accepted.HTTP_1_1)
        self.assertIn(b" 400 ", client.took())

    def test_warned(self) -> None:
        """The only test that runs is warned of what it does not see."""
        worker = self.harness.core.hello("playwright", workerId="0", features=["warnings"])
        about = {"testId": "t", "title": "T", "file": "", "workerId": "0"}
        self.harness.core.send_message(worker, "test:register", **about)
        worker.sent.clear()
        for data in (client_hello("h2"), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            client = self.harness.ask(CONNECT.replace(b"api", b"tls" if data[0] == 22 else b"h2c"))
            client.sends(data)
            client.lose()
        told = [each for each in worker.sent if each["type"] == "test:warning"]
        self.assertEqual({each["code"] for each in told}, {"unseen_connection"})
        self.assertIn("https://tls.test", told[0]["message"])
        self.assertIn("https://h2c.test", told[1]["message"])
        found = [each["outcome"]["response"]["statusText"] for each in self.harness.entries()]
        self.assertEqual([HTTP_2_ONLY in text for text in found], [True, True])

    def test_of_others(self) -> None:
        """A client that is no attached process cannot say so."""
        client = self.harness.ask(asking(b"Trafficmock-Alone: why").replace(b"-Agent", b"-X"))
        self.assertEqual(client.took(), ESTABLISHED)
        self.assertEqual(self.harness.servers, [])


def asking(*lines: bytes) -> bytes:
    """Write the CONNECT of an attached process."""
    return b"\r\n".join([CONNECT[:-4], b"Trafficmock-Agent: python", *lines, b"", b""])
