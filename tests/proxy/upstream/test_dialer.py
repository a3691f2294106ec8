"""How servers are reached."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.address import IPv4Address
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.protocol import Protocol
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import OURS, FakeDialer, FakeTransport
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.connect_endpoint import ConnectEndpoint
from trafficmock.proxy.upstream.dialer import Dialer, UpstreamProxy, parse_resolve
from trafficmock.proxy.upstream.server_verification import ServerVerification
from trafficmock.proxy.upstream_errors import UpstreamError

HTTP = Origin("http", "127.0.0.1", 8080)
HTTPS = Origin("https", "127.0.0.1", 8443)


def dialer(**options: object) -> Dialer:
    return Dialer(
        reactor=MemoryReactorClock(),
        connect_seconds=1.0,
        trust=ServerVerification(),
        **options,  # type: ignore[arg-type]
    )


class LoopTests(SynchronousTestCase):
    """Servers that are this very service."""

    def connect(
        self, host: str, port: int, *, bound_everywhere: bool = False
    ) -> tuple[Deferred[Any], FakeTransport]:
        made = FakeDialer(bound_everywhere=bound_everywhere)
        made.peer = IPv4Address("TCP", host, port)
        found = made.connect(made.host_endpoint("a.test", 1), Protocol, "a.test:1", OURS)
        return found, made.servers[0]

    def test_loop(self) -> None:
        """A connection that ends at our own address and port is cut; others are not."""
        looped, server = self.connect("127.0.0.1", 4310)
        error = self.failureResultOf(looped, UpstreamError).value
        self.assertEqual((error.code, error.status), ("loop_detected", 508))
        self.assertTrue(server.aborted)
        for host, port in (("127.0.0.1", 4311), ("192.0.2.1", 4310), ("127.0.0.2", 4310)):
            other, server = self.connect(host, port, bound_everywhere=True)
            self.assertIsInstance(self.successResultOf(other), Protocol)
            self.assertFalse(server.aborted)

    def test_service(self) -> None:
        """The port of the service is its own also for what came in by another one of its ports."""
        made = FakeDialer()
        made.service_port = 4321
        for port, is_own in ((4321, True), (4310, True), (4322, False)):
            made.peer = IPv4Address("TCP", "127.0.0.1", port)
            endpoint = made.host_endpoint("a.test", 1)
            found = made.connect(endpoint, Protocol, "a.test:1", OURS)
            if is_own:
                self.failureResultOf(found, UpstreamError)
            else:
                self.assertIsInstance(self.successResultOf(found), Protocol)

    def test_https(self) -> None:
        """By https it is cut before the handshake, to which nobody would answer."""
        made = FakeDialer(trust=ServerVerification())
        made.peer = IPv4Address("TCP", "127.0.0.1", 4310)
        endpoint = Dialer.to(made, Origin("https", "127.0.0.1", 4310))
        found = made.connect(endpoint, Protocol, "https://127.0.0.1:4310", OURS)
        error = self.failureResultOf(found, UpstreamError).value
        self.assertEqual((error.code, error.status), ("loop_detected", 508))
        self.assertTrue(made.servers[0].aborted)

    def test_wildcard(self) -> None:
        """The address of all interfaces is this machine's, and 0 is another name of it."""
        for host, port, ours in (
            ("0.0.0.0", 4310, True),  # noqa: S104 - connected with
            ("::", 4310, True),
            ("0.0.0.0", 4311, False),  # noqa: S104 - connected with
        ):
            found, server = self.connect(host, port)
            self.assertEqual(server.aborted, ours)
            (self.failureResultOf if ours else self.successResultOf)(found)

    def test_everywhere(self) -> None:
        """Bound to all interfaces we are at every address of this machine."""
        for everywhere in (True, False):
            made = FakeDialer(bound_everywhere=everywhere)
            made.peer = IPv4Address("TCP", "127.0.0.1", 4310)
            elsewhere = IPv4Address("TCP", "192.0.2.5", 4310)
            endpoint = made.host_endpoint("a.test", 1)
            found = made.connect(endpoint, Protocol, "x", elsewhere)
            if everywhere:
                self.failureResultOf(found, UpstreamError)
            else:
                self.successResultOf(found)

    def test_given_up(self) -> None:
        """Cancelling ends the attempt."""
        made = FakeDialer(slow=[])
        endpoint = made.host_endpoint("a.test", 1)
        found = made.connect(endpoint, Protocol, "x", OURS)
        found.cancel()
        self.failureResultOf(found, CancelledError)
        assert made.slow is not None
        self.assertTrue(made.slow[0].called)


class EndpointTests(SynchronousTestCase):
    """Endpoints."""

    def test_resolved(self) -> None:
        """An address that was given for a host and port is used for these alone."""
        made = dialer(resolved={("a.test", 80): "127.0.0.9"})
        self.assertIn("127.0.0.9", repr(made.host_endpoint("a.test", 80)))
        self.assertIn("a.test", repr(made.host_endpoint("a.test", 81)))

    def test_proxied(self) -> None:
        """Through a proxy http asks the proxy for URLs, all else takes CONNECT."""
        made = dialer(proxy=UpstreamProxy("127.0.0.1", 3128))
        plain = Origin("http", "a.test", 80)
        self.assertIn("3128", repr(made.to(plain)))
        self.assertIsInstance(made.host_endpoint("a.test", 1), ConnectEndpoint)
        self.assertIsInstance(made.websocket_endpoint(plain), ConnectEndpoint)
        self.assertEqual(made.http_proxy(plain), made.proxy)
        self.assertIsNone(made.http_proxy(HTTPS))

    def test_loopback(self) -> None:
        """This machine is reached without the proxy, which would take ``localhost`` for itself."""
        made = dialer(proxy=UpstreamProxy("127.0.0.1", 3128))
        for host in ("localhost", "app.localhost", "127.0.0.2", "::1"):
            origin = Origin("http", host, 80)
            self.assertNotIn("3128", repr(made.to(origin)))
            self.assertNotIsInstance(made.host_endpoint(host, 80), ConnectEndpoint)
            self.assertIsNone(made.http_proxy(origin))

    def test_tls(self) -> None:
        """Https is reached with TLS, WebSockets included."""
        for endpoint in (dialer().to(HTTPS), dialer().websocket_endpoint(HTTPS)):
            self.assertEqual(type(endpoint).__name__, "_WrapperEndpoint")


class OptionTests(SynchronousTestCase):
    """What options say."""

    def test_proxy(self) -> None:
        """Host, port, and credentials in percent encoding."""
        self.assertEqual(UpstreamProxy.parse("http://h:3128/"), UpstreamProxy("h", 3128))
        coded = UpstreamProxy.parse("HTTP://a:b%20c@h").credentials
        self.assertEqual(coded, b"Basic YTpiIGM=")
        for url in ("h:1", "https://h", "http://", "http://h/x"):
            self.assertRaises(ValueError, UpstreamProxy.parse, url)

    def test_resolve(self) -> None:
        """HOST:PORT:ADDRESS, with brackets around IPv6 or without."""
        self.assertEqual(parse_resolve("A.test:443:127.0.0.1"), (("a.test", 443), "127.0.0.1"))
        self.assertEqual(parse_resolve("a:1:::1"), (("a", 1), "::1"))
        self.assertEqual(parse_resolve("[::2]:1:[::1]"), (("::2", 1), "::1"))
        for text in ("a", "a:1", "a:b:c", ":1:c", "a:0:c", "a:1:", "a:1:b c"):
            self.assertRaises(ValueError, parse_resolve, text)

    @given(st.text(alphabet="ab.:[]0123/@", max_size=20))
    def test_any_input(self, text: str) -> None:
        """Nothing but a ValueError is raised."""
        for read in (parse_resolve, UpstreamProxy.parse):
            try:
                read(text)
            except ValueError:
                continue
