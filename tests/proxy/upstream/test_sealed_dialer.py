"""What the proxy connects a sealed command with."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred, succeed
from twisted.internet.protocol import Protocol
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.dialer import Dialer, UpstreamProxy
from trafficmock.proxy.upstream.sealed_dialer import SealedDialer, read_reach
from trafficmock.proxy.upstream_errors import UpstreamError

OWN: tuple[str, ...] = (
    "127.0.0.1",
    "127.9.9.9",
    "localhost",
    "a.localhost",
    "::1",
    "::",
    "payments",
)
OWN += ("::ffff:127.0.0.1", "0.0.0.0", "db")  # noqa: S104 - nothing is bound
OTHERS = ("api.test", "10.0.0.1", "2001:db8::1", "payments.internal", "127.example")


def dialer(reach: str = "", proxy: UpstreamProxy | None = None) -> SealedDialer:
    found = read_reach(reach)
    assert found is not None
    plain = Dialer(reactor=None, connect_seconds=1, trust=None, proxy=proxy)  # type: ignore[arg-type]
    return SealedDialer.of(plain, found)


def refuses(sealed: SealedDialer, host: str, port: int = 80) -> bool:
    """Return whether it fails for a server without having connected."""
    origin = Origin("http", host, port)
    found = set()
    for endpoint in (
        sealed.to(origin),
        sealed.host_endpoint(host, port),
        sealed.websocket_endpoint(origin),
    ):
        refused = not hasattr(endpoint, "host")
        if refused:
            failed: Deferred[Any] = endpoint.connect(None)  # type: ignore[arg-type]
            errors: list[Any] = []
            failed.addErrback(errors.append)
            assert "--reach" in str(errors[0].value)
        found.add(refused)
    (only,) = found
    return only


class SealedDialerTests(SynchronousTestCase):
    """Which servers are refused."""

    def test_own(self) -> None:
        """Loopback, in whatever form, and names without a dot; no others."""
        for host in OWN:
            self.assertTrue(refuses(dialer(), host), host)
        for host in OTHERS:
            self.assertFalse(refuses(dialer(), host), host)

    def test_reached(self) -> None:
        """Those of ``--reach``, by each name of loopback; not other ports of them."""
        sealed = dialer("localhost:5432,payments:80,[::1]:81")
        for host, port in (("localhost", 5432), ("127.0.0.1", 5432), ("::1", 5432), ("::1", 81)):
            self.assertFalse(refuses(sealed, host, port), (host, port))
        self.assertFalse(refuses(sealed, "payments"))
        for host, port in (("localhost", 5433), ("payments", 81), ("127.0.0.1", 80), ("db", 5432)):
            self.assertTrue(refuses(sealed, host, port), (host, port))

    def test_proxy(self) -> None:
        """Another proxy on this machine is the way to others, and no server itself."""
        sealed = dialer(proxy=UpstreamProxy("localhost", 3128))
        self.assertFalse(refuses(sealed, "localhost", 3128))
        self.assertTrue(refuses(sealed, "localhost", 3129))

    def test_name_of_loopback(self) -> None:
        """A name that resolves to this machine is refused before anything is sent."""
        for peer, reach, refused in (
            ("127.0.0.1", "", True),
            ("127.0.0.1", "localhost:5999", False),
            ("192.0.2.1", "", False),
        ):
            transport = FakeTransport(peer=Peer(peer, 5999))
            protocol = Protocol()
            protocol.makeConnection(transport)
            connecting = dialer(reach).connect(Given(protocol), Protocol, "x", None)  # type: ignore[arg-type]
            found: list[Any] = []
            connecting.addBoth(found.append)
            if refused:
                self.assertIsInstance(found[0].value, UpstreamError)
                self.assertEqual(transport.value(), b"")
            else:
                self.assertEqual(found, [protocol])

    @given(st.text())
    def test_any_reach(self, text: str) -> None:
        """Whatever the line has, it is read or refused."""
        found = read_reach(text)
        self.assertTrue(found is None or all(port for _, port in found))


class Peer:
    """The address of a server."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port


class Given:
    """An endpoint that connects at once."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol

    def connect(self, _: object) -> Deferred[Protocol]:
        return succeed(self.protocol)


def sniffed(harness: ForwardProxyHarness) -> FakeTransport:
    """Connect with the port of the proxy."""
    proxy = harness.proxy
    return harness.attach(proxy.sniffer(harness._no_service, harness._count))


class SealedConnectionTests(SynchronousTestCase):
    """The first line of a connection."""

    def ask(self, *pieces: bytes) -> tuple[FakeTransport, ForwardProxyHarness]:
        harness = ForwardProxyHarness()
        client = sniffed(harness)
        for piece in pieces:
            client.sends(piece)
        return client, harness

    def test_request(self) -> None:
        """A request to this machine is refused, and named in the history."""
        line = b"TRAFFICMOCK-SEALED localhost:1\r\n"
        asked = b"GET http://127.0.0.1:5999/a HTTP/1.1\r\nHost: 127.0.0.1:5999\r\n\r\n"
        for pieces in ([line + asked], [line[:9], line[9:30], line[30:], asked]):
            client, harness = self.ask(*pieces)
            answer = client.took()
            self.assertIn(b" 403 ", answer.partition(b"\r\n")[0])
            self.assertIn(b"--reach", answer)
            self.assertEqual(harness.entry()["request"]["url"], "http://127.0.0.1:5999/a")

    def test_mocked(self) -> None:
        """A test may answer in the place of such a server."""
        harness = ForwardProxyHarness()
        worker = harness.worker("http://payments/**")
        asked = b"GET http://payments/a HTTP/1.1\r\nHost: payments\r\n\r\n"
        client = sniffed(harness)
        client.sends(b"TRAFFICMOCK-SEALED \r\n" + asked)
        self.assertEqual(client.took(), b"")
        self.assertTrue(worker.sent)

    def test_malformed(self) -> None:
        """A line that is too long, or no such line, closes the connection."""
        for line in (b"x" * 100_000, b"nothing\r\n", b"a:0\r\n"):
            client, _ = self.ask(b"TRAFFICMOCK-SEALED " + line)
            self.assertTrue(client.disconnecting)
